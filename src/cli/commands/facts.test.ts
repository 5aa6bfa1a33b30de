import { expect, test } from 'vitest'
import { labHost } from '../../agent/facts/fixtures.ts'
import { inMemory as host } from '../../agent/facts/in-memory.ts'
import { factsFormat } from '../../contract/facts.ts'
import type { OutputFormat } from '../command.ts'
import { inMemory } from '../in-memory.ts'
import { factsCommand, type Place } from './facts.ts'

const here: Place = { platform: 'linux', root: true, source: host(labHost) }

async function facts(place: Partial<Place>, output: OutputFormat, more: object = {}): Promise<string> {
  const { context, ended } = inMemory({})
  const command = factsCommand(() => ({ ...here, ...place }))
  const options = { file: 'cluster.yml', output, input: false, ...more }
  return ended(await command.run(context, { args: [], options })).stdout
}

test('in short for people', async () => {
  expect(await facts({}, 'table')).toMatchInlineSnapshot(`
    "h1: Debian GNU/Linux 12 (bookworm), kernel 6.18.44, amd64, a container
      size          2 CPUs, 23.5 GiB of memory
      addresses     eth0 10.210.0.11/24
      disks         / 43.6 of 252.0 GiB free
      listening     22 sshd
      services      systemd 252
      cgroups       version 1: blkio, cpu, cpuacct, cpuset, devices, freezer, memory, pids
      kernel has    overlay, vxlan, bridge, bridge netfilter, nftables, iptables
      kernel lacks  modules
      programs      conntrack, ethtool, iptables, modprobe, mount, nft, socat, umount
      root lacks    CAP_SYS_RESOURCE
      resolver      /etc/resolv.conf: no server
    "
  `)
})

test('as a document that plan reads, under the name that cluster.yml has for the host', async () => {
  const read = async (more: object): Promise<string> =>
    factsFormat.newest.schema.parse(JSON.parse(await facts({}, 'json', more))).host
  expect(await read({})).toBe('h1')
  expect(await read({ host: 'cp1' })).toBe('cp1')
})

test.each<[Partial<Place>, string]>([
  [{ platform: 'win32', root: false }, 'FACTS_NO_WINDOWS'],
  [{ platform: 'darwin' }, 'FACTS_NOT_TAKEN'],
  [{ root: false }, 'FACTS_NOT_ROOT'],
])('at %o it is %s', async (place, code) => {
  await expect(facts(place, 'json')).rejects.toMatchObject({ code })
})
