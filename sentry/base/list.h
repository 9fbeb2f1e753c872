/* Intrusive doubly linked list, the kernel's shape: a head is a node that points at itself. */
#ifndef WARD_BASE_LIST_H
#define WARD_BASE_LIST_H
#include <stddef.h>
#include <stdbool.h>

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name) {&(name), &(name)}
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}
static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}
static inline void list_insert_(struct list *n, struct list *prev, struct list *next)
{
	next->prev = n;
	n->next = next;
	n->prev = prev;
	prev->next = n;
}
/* Add N right after HEAD (a stack) or before it (a queue). */
static inline void list_add(struct list *head, struct list *n)
{
	list_insert_(n, head, head->next);
}
static inline void list_add_tail(struct list *head, struct list *n)
{
	list_insert_(n, head->prev, head);
}
/* Unlink N; N becomes an empty list, so a second list_del is harmless. */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}
#define list_entry(p, type, member) container_of(p, type, member)
#define list_first(head, type, member) container_of((head)->next, type, member)
#define list_for_each(pos, head, member)                                                           \
	for (pos = container_of((head)->next, __typeof__(*pos), member); &pos->member != (head);   \
	     pos = container_of(pos->member.next, __typeof__(*pos), member))
/* Safe against removal of POS (and only of POS). */
#define list_for_each_safe(pos, tmp, head, member)                                                 \
	for (pos = container_of((head)->next, __typeof__(*pos), member),                           \
	    tmp = container_of(pos->member.next, __typeof__(*pos), member);                        \
	     &pos->member != (head);                                                               \
	     pos = tmp, tmp = container_of(pos->member.next, __typeof__(*pos), member))
#endif
