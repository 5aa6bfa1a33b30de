import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { readCgroup } from './cgroup.ts'

const known = `#subsys_name	hierarchy	num_cgroups	enabled
cpuset	6	1	1
cpu	3	68	1
cpuacct	3	68	1
memory	8	101	1
pids	2	74	1
`

async function found(mountinfo: string, more: Readonly<Record<string, string>> = {}) {
  return readCgroup(
    createFakeFactSource({ files: { '/proc/self/mountinfo': mountinfo, '/proc/cgroups': known, ...more } }),
  )
}

const unified =
  '35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n'
const controllers = { '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma misc\n' }

test('cgroup version 2 is found with its controllers, as on Ubuntu and Debian', async () => {
  expect(await found(unified, controllers)).toEqual({
    version: 2,
    controllers: ['cpu', 'cpuset', 'hugetlb', 'io', 'memory', 'misc', 'pids', 'rdma'],
  })
})

test('a read-only cgroup mount has no usable controllers', async () => {
  expect(await found(unified.replace('rw,nosuid', 'ro,nosuid'), controllers)).toEqual({
    version: 2,
    controllers: [],
  })
})

const hybrid = `24 18 0:21 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:8 - tmpfs tmpfs ro,mode=755
25 24 0:22 / /sys/fs/cgroup/unified rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
26 24 0:23 / /sys/fs/cgroup/systemd rw,nosuid,nodev,noexec,relatime shared:10 - cgroup cgroup rw,xattr,name=systemd
29 24 0:27 / /sys/fs/cgroup/pids rw,nosuid,nodev,noexec,relatime shared:14 - cgroup cgroup rw,pids
30 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid,nodev,noexec,relatime shared:15 - cgroup cgroup rw,cpu,cpuacct
33 24 0:31 / /sys/fs/cgroup/cpuset rw,nosuid,nodev,noexec,relatime shared:18 - cgroup cgroup rw,cpuset,clone_children
35 24 0:33 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:20 - cgroup cgroup rw,memory
`

test('cgroup version 1 is found beside an empty version 2, as on RHEL 8 and Debian 10', async () => {
  expect(await found(hybrid)).toEqual({
    version: 1,
    controllers: ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids'],
  })
})

test('a disabled controller is not listed', async () => {
  const off = { '/proc/cgroups': known.replace('memory\t8\t101\t1', 'memory\t0\t101\t0') }
  expect((await found(hybrid, off)).controllers).not.toContain('memory')
})

test('the last mount at a path counts', async () => {
  expect((await found(`${hybrid}${unified}`, controllers)).version).toBe(2)
})
