import { expect, test } from 'vitest'
import { createLinuxPackets, parseMountPoints } from './linux-kernel.ts'

test('mount points are listed from the last to the first, with escaped characters decoded', () => {
  const text = [
    '22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
    '90 22 0:40 / /var/lib/kubelet/pods/a\\040b rw - tmpfs tmpfs rw',
    '',
  ].join('\n')
  expect(parseMountPoints(text)).toEqual(['/var/lib/kubelet/pods/a b', '/'])
})

test('routes of a protocol are removed in the families that have some', async () => {
  const calls: string[] = []
  const packets = createLinuxPackets(async (argv) => {
    calls.push(argv.join(' '))
    const stdout = argv.includes('show') && argv.includes('-4') ? 'blackhole 10.244.1.0/26 \n' : ''
    return { code: 0, stdout, stderr: '' }
  })
  expect(await packets.removeRoutes(80)).toEqual(['blackhole 10.244.1.0/26'])
  expect(calls).toEqual([
    'ip -4 route show proto 80',
    'ip -4 route flush proto 80',
    'ip -6 route show proto 80',
  ])
})

test('links have the bridge that they are a port of', async () => {
  const stdout = [
    '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\\    link/loopback',
    '4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1430 qdisc noqueue state UP mode DEFAULT group default qlen 1000\\    link/ether',
    '5: veth5f57a2b8@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1430 qdisc noqueue master cni0 state UP mode DEFAULT\\    link/ether',
    '',
  ].join('\n')
  const packets = createLinuxPackets(async () => ({ code: 0, stdout, stderr: '' }))
  expect(await packets.links()).toEqual([
    { name: 'lo', bridge: undefined },
    { name: 'cni0', bridge: undefined },
    { name: 'veth5f57a2b8', bridge: 'cni0' },
  ])
})
