import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { parseModuleNames, parseRefusedModules, readKernelModules } from './kernel.ts'

const debian = `kernel/fs/overlayfs/overlay.ko:
kernel/drivers/net/vxlan/vxlan.ko: kernel/net/ipv4/udp_tunnel.ko kernel/net/ipv6/ip6_udp_tunnel.ko
kernel/net/bridge/br_netfilter.ko: kernel/net/bridge/bridge.ko kernel/net/802/stp.ko kernel/net/llc/llc.ko
`
const rhel = `kernel/fs/overlayfs/overlay.ko.xz:
kernel/drivers/net/vxlan/vxlan.ko.xz: kernel/net/ipv6/ip6_udp_tunnel.ko.xz kernel/net/ipv4/udp_tunnel.ko.xz
extra/kmod-x/dash-ed.ko.xz:
`
const ubuntu = 'kernel/net/bridge/bridge.ko.zst: kernel/net/802/stp.ko.zst kernel/net/llc/llc.ko.zst\n'
const builtin = 'kernel/arch/x86/events/amd/amd-uncore.ko\nkernel/fs/ext4/ext4.ko\n'

test('modules are the files, and not what the files need', () => {
  expect([...parseModuleNames(debian)]).toEqual(['overlay', 'vxlan', 'br_netfilter'])
  expect([...parseModuleNames(rhel)]).toEqual(['overlay', 'vxlan', 'dash_ed'])
  expect([...parseModuleNames(ubuntu)]).toEqual(['bridge'])
  expect([...parseModuleNames(builtin)]).toEqual(['amd_uncore', 'ext4'])
})

test('a hardened host refuses some', () => {
  const text = `# CIS
install overlay /bin/false
  install usb-storage /usr/bin/true
install sctp /sbin/modprobe --ignore-install sctp
#install vxlan /bin/false
blacklist bridge
`
  expect([...parseRefusedModules(text)]).toEqual(['overlay', 'usb_storage'])
})

const machine = {
  '/lib/modules/6.1.0/modules.dep': debian,
  '/lib/modules/6.1.0/modules.builtin': builtin,
  '/proc/modules': '',
  '/proc/sys/kernel/modules_disabled': '0\n',
  '/proc/sys/kernel/cap_last_cap': '40\n',
  '/proc/1/status': 'CapBnd:\t000001ffffffffff\n',
}

async function has(name: string, more: Readonly<Record<string, string>> = {}): Promise<[boolean, boolean]> {
  const modules = await readKernelModules(createFakeFactSource({ files: { ...machine, ...more } }), '6.1.0')
  return [modules.loadable, await modules.has(name)]
}

test('what can be loaded counts, and what is inside the kernel', async () => {
  expect(await has('overlay')).toEqual([true, true])
  expect(await has('ext4')).toEqual([true, true])
  expect(await has('bridge')).toEqual([true, false])
})

test.each([
  ['a locked kernel', { '/proc/sys/kernel/modules_disabled': '1\n' }],
  ['a container without the right', { '/proc/1/status': 'CapBnd:\t00000000a80425fb\n' }],
  ['a kernel whose files are gone', { '/lib/modules/6.1.0/modules.dep': '' }],
])('%s loads none, and has those that are loaded', async (_, more) => {
  expect(await has('vxlan', more)).toEqual([false, false])
  expect(await has('vxlan', { ...more, '/sys/module/vxlan/refcnt': '0\n' })).toEqual([false, true])
})

test('one that is refused is there only when it is loaded', async () => {
  const refused = {
    '/etc/modprobe.d/cis.conf': 'install overlay /bin/false\n',
    '/etc/modprobe.d/x': 'install vxlan /bin/true',
  }
  expect(await has('overlay', refused)).toEqual([true, false])
  expect(await has('vxlan', refused)).toEqual([true, true])
  expect(await has('overlay', { ...refused, '/sys/module/overlay/refcnt': '3\n' })).toEqual([true, true])
})
