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

test('modules are the listed files, not their dependencies', () => {
  expect([...parseModuleNames(debian)]).toEqual(['overlay', 'vxlan', 'br_netfilter'])
  expect([...parseModuleNames(rhel)]).toEqual(['overlay', 'vxlan', 'dash_ed'])
  expect([...parseModuleNames(ubuntu)]).toEqual(['bridge'])
  expect([...parseModuleNames(builtin)]).toEqual(['amd_uncore', 'ext4'])
})

test('modules with the install command true or false are refused', () => {
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

test('a kernel has loadable and built-in modules', async () => {
  expect(await has('overlay')).toEqual([true, true])
  expect(await has('ext4')).toEqual([true, true])
  expect(await has('bridge')).toEqual([true, false])
})

test.each([
  ['a locked kernel', { '/proc/sys/kernel/modules_disabled': '1\n' }],
  ['a container without CAP_SYS_MODULE', { '/proc/1/status': 'CapBnd:\t00000000a80425fb\n' }],
  ['a kernel without module files', { '/lib/modules/6.1.0/modules.dep': '' }],
])('%s cannot load modules, and has only loaded ones', async (_, more) => {
  expect(await has('vxlan', more)).toEqual([false, false])
  expect(await has('vxlan', { ...more, '/sys/module/vxlan/refcnt': '0\n' })).toEqual([false, true])
})

test('a refused module counts only if it is loaded', async () => {
  const refused = {
    '/etc/modprobe.d/cis.conf': 'install overlay /bin/false\n',
    '/etc/modprobe.d/x': 'install vxlan /bin/true',
  }
  expect(await has('overlay', refused)).toEqual([true, false])
  expect(await has('vxlan', refused)).toEqual([true, true])
  expect(await has('overlay', { ...refused, '/sys/module/overlay/refcnt': '3\n' })).toEqual([true, true])
})
