import { expect, test } from 'vitest'
import { labHost } from '../testing/lab-host.ts'
import { createFakeFactSource, type FakeHostContent } from '../testing/fake-fact-source.ts'
import { hasFileSystem, readKernel } from './kernel.ts'

/** modules.dep of a freshly booted Debian 12 cloud image, on which no modules are loaded. */
const dep = [
  'kernel/fs/overlayfs/overlay.ko',
  'kernel/drivers/net/vxlan/vxlan.ko',
  'kernel/net/netfilter/nf_tables.ko',
  'kernel/net/netfilter/nft_chain_nat.ko',
  'kernel/net/netfilter/nft_compat.ko',
  'kernel/net/netfilter/nft_masq.ko',
  'kernel/net/netfilter/nft_nat.ko',
  'kernel/net/netfilter/nft_numgen.ko',
  'kernel/net/ipv4/netfilter/nft_fib_ipv4.ko',
  'kernel/net/bridge/bridge.ko',
  'kernel/net/bridge/br_netfilter.ko',
]
const debian: FakeHostContent = {
  files: {
    '/proc/sys/kernel/osrelease': '6.1.0-54-cloud-amd64\n',
    '/proc/sys/kernel/modules_disabled': '0\n',
    '/proc/sys/kernel/cap_last_cap': '40\n',
    '/proc/1/status': 'CapBnd:\t000001ffffffffff\n',
    '/proc/modules': '',
    '/proc/filesystems': 'nodev\tsysfs\n\text4\n',
    '/lib/modules/6.1.0-54-cloud-amd64/modules.builtin': 'kernel/fs/binfmt_script.ko\n',
    '/lib/modules/6.1.0-54-cloud-amd64/modules.dep': `${dep.join(':\n')}:\n`,
  },
}
const all = {
  overlay: true,
  vxlan: true,
  bridge: true,
  bridgeNetfilter: true,
  nftables: true,
  iptables: true,
}

test('loadable modules prove all features without running a program', async () => {
  const source = createFakeFactSource(debian)
  const run = async () => {
    throw new Error('no program is needed')
  }
  expect(await readKernel({ ...source, run })).toEqual({
    release: '6.1.0-54-cloud-amd64',
    modules: true,
    ...all,
  })
})

test('without modules, kernel files prove features, and commands test the others', async () => {
  expect(await readKernel(createFakeFactSource(labHost))).toEqual({
    release: '6.18.44',
    modules: false,
    ...all,
  })
  expect(await readKernel(createFakeFactSource({ ...labHost, commands: {} }))).toMatchObject({
    nftables: false,
    vxlan: true,
  })
})

const bare: FakeHostContent = {
  files: {
    '/proc/sys/kernel/osrelease': '6.18.44\n',
    '/proc/sys/kernel/cap_last_cap': '40\n',
    '/proc/1/status': 'CapBnd:\t000001ffffffffff\n',
  },
}

test('a kernel without any information is tested in a separate network namespace', async () => {
  const none = Object.fromEntries(Object.keys(all).map((name) => [name, false]))
  expect(await readKernel(createFakeFactSource(bare))).toEqual({
    release: '6.18.44',
    modules: false,
    ...none,
  })
  const commands = {
    'unshare --net ip link add name test type bridge': '',
    'unshare --net ip link add name test type vxlan id 1 dstport 4789': '',
    'unshare --net iptables -w 2 -t nat -A POSTROUTING -m comment --comment test -j MASQUERADE': '',
  }
  expect(await readKernel(createFakeFactSource({ ...bare, commands }))).toMatchObject({
    ...none,
    bridge: true,
    vxlan: true,
    iptables: true,
  })
})

test('a file system is matched by its full name', () => {
  expect(hasFileSystem('nodev\toverlayfs\n\text4\n', 'overlay')).toBe(false)
  expect(hasFileSystem('nodev\toverlay\n', 'overlay')).toBe(true)
})
