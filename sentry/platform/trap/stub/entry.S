/*
 * The stub's few lines of assembly: program entry, the signal restorer, copies that may fault, and the birth of
 * a thread.
 */
#define COOKIE_OWN 0x57a4d0015eed0a11
	.text
	.globl _start
_start:
	mov	%rsp, %rdi
	and	$-16, %rsp
	movabs	$zygote_main, %rax
	call	*%rax
	ud2

/* Return from a signal handler; also the last step of a start: rsp = the ucontext. */
	.globl stub_restorer
stub_restorer:
	movabs	$COOKIE_OWN, %r9
	mov	$15, %eax
	syscall
	ud2
	.globl stub_enter_guest
stub_enter_guest:
	mov	%rdi, %rsp
	jmp	stub_restorer

/* stub_switch_stack(sp, fn, arg) */
	.globl stub_switch_stack
stub_switch_stack:
	mov	%rdi, %rsp
	mov	%rdx, %rdi
	xor	%ebp, %ebp
	call	*%rsi
	ud2

/* long stub_copy(void *dst, const void *src, size_t n): bytes NOT copied. A fault inside ends it early. */
	.globl stub_copy, stub_copy_begin, stub_copy_end, stub_copy_fixup
stub_copy:
	mov	%rdx, %rcx
stub_copy_begin:
	rep movsb
stub_copy_end:
	mov	%rcx, %rax
	ret
stub_copy_fixup:
	mov	%rcx, %rax
	ret

/* long stub_copy_str(char *dst, const char *src, size_t n): bytes copied with the NUL, or -1 (fault or too long). */
	.globl stub_copy_str, stub_str_begin, stub_str_end, stub_str_fixup
stub_copy_str:
	xor	%eax, %eax
	test	%rdx, %rdx
	je	stub_str_fixup
stub_str_begin:
1:	movzbl	(%rsi,%rax), %ecx
	mov	%cl, (%rdi,%rax)
	inc	%rax
	test	%cl, %cl
	je	stub_str_end
	cmp	%rdx, %rax
	jb	1b
	jmp	stub_str_fixup
stub_str_end:
	ret
stub_str_fixup:
	mov	$-1, %rax
	ret

/* u64 stub_cmpxchg(u32 *word, u32 old, u32 new): the word as it was; ~0 when it cannot be written. */
	.globl stub_cmpxchg, stub_xchg_begin, stub_xchg_end, stub_xchg_fixup
stub_cmpxchg:
	mov	%esi, %eax
stub_xchg_begin:
	lock cmpxchg %edx, (%rdi)
stub_xchg_end:
	mov	%eax, %eax
	ret
stub_xchg_fixup:
	mov	$-1, %rax
	ret

/* long stub_clone(flags, sp, tls, cookie, fn, arg): the new thread calls fn(arg) on its own stack.
   With fn 0 (fork) the child returns 0 here like the parent. */
	.globl stub_clone
stub_clone:
	push	%rbx
	push	%r12
	mov	%r8, %rbx
	mov	%r9, %r12
	mov	%rcx, %r9
	mov	%rdx, %r8
	xor	%edx, %edx
	xor	%r10d, %r10d
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jne	2f
	test	%rbx, %rbx
	je	2f
	mov	%r12, %rdi
	xor	%ebp, %ebp
	call	*%rbx
	ud2
2:	pop	%r12
	pop	%rbx
	ret

/* long stub_helper(sp, cleartid, fn): the zygote's short-lived unfiltered thread. */
	.globl stub_helper
stub_helper:
	push	%rbx
	mov	%rdx, %rbx
	mov	%rsi, %r10
	mov	%rdi, %rsi
	mov	$0x250f00, %edi		/* VM FS FILES SIGHAND THREAD SYSVSEM CHILD_CLEARTID */
	xor	%edx, %edx
	xor	%r8d, %r8d
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jne	3f
	xor	%ebp, %ebp
	call	*%rbx
	ud2
3:	pop	%rbx
	ret
	.section .note.GNU-stack,"",@progbits
