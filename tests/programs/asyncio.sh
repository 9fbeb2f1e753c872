#!/bin/sh
# asyncio needs socketpair for its self-pipe.
/usr/bin/python3 - <<'EOF'
import asyncio
async def job(n):
    await asyncio.sleep(0.01 * (3 - n))
    return n
async def main():
    p = await asyncio.create_subprocess_exec("echo", "async", stdout=asyncio.subprocess.PIPE)
    print(await asyncio.gather(*(job(i) for i in range(3))), (await p.communicate())[0])
asyncio.run(main())
EOF
