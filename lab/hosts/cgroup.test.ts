import { expect, test } from 'vitest'
import { parseHierarchies } from './cgroup.ts'

test('cgroup version 1 is found beside an empty version 2', () => {
  const found = parseHierarchies(
    '9:name=systemd:/\n4:memory:/job/7\n1:cpu,cpuacct:/\n0::/\n',
    [
      '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
      '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
      '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory',
      '40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd',
      '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    ].join('\n'),
  )
  expect(found).toEqual([
    { controllers: ['name=systemd'], mount: '/sys/fs/cgroup/systemd', ownPath: '/' },
    { controllers: ['memory'], mount: '/sys/fs/cgroup/memory', ownPath: '/job/7' },
    { controllers: ['cpu', 'cpuacct'], mount: '/sys/fs/cgroup/cpu,cpuacct', ownPath: '/' },
    { controllers: [], mount: '/sys/fs/cgroup/unified', ownPath: '/' },
  ])
})

test('cgroup version 2 alone is found', () => {
  const found = parseHierarchies(
    '0::/user.slice/a.scope\n',
    '30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate',
  )
  expect(found).toEqual([{ controllers: [], mount: '/sys/fs/cgroup', ownPath: '/user.slice/a.scope' }])
})

test('the own path is relative to the cgroup mount of a container', () => {
  const found = parseHierarchies(
    '4:memory:/docker/abc/job\n',
    '35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
  )
  expect(found).toEqual([{ controllers: ['memory'], mount: '/sys/fs/cgroup/memory', ownPath: '/job' }])
})
