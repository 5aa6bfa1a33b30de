import { expect, test } from 'vitest'
import { labHost } from '../../agent/facts/fixtures.ts'
import { inMemory as host } from '../../agent/facts/in-memory.ts'
import { collectWindowsFacts } from '../../agent/facts/windows/collect.ts'
import { newMachine } from '../../agent/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../agent/windows/simulator/simulated-host.ts'
import { factsFormat } from '../../contract/facts.ts'
import type { OutputFormat } from '../command.ts'
import { inMemory } from '../in-memory.ts'
import { factsCommand, type Place } from './facts.ts'

const here: Place = {
  platform: 'linux',
  root: true,
  source: host(labHost),
  windows: async (base, name = 'nt1') =>
    collectWindowsFacts(
      {
        operations: simulatedHost(newMachine(new Map())).host,
        base,
        arch: 'x64',
        cpus: 2,
        memoryBytes: 2 ** 33,
        now: () => new Date(0),
        space: async () => ({ totalBytes: 2 ** 36, availableBytes: 2 ** 35 }),
      },
      name,
    ),
}

async function facts(place: Partial<Place>, output: OutputFormat, more: object = {}): Promise<string> {
  const { context, ended } = inMemory({})
  const command = factsCommand(() => ({ ...here, ...place }))
  const baseDirectory = String.raw`C:\hyperkube`
  const options = { file: 'cluster.yml', output, input: false, baseDirectory, ...more }
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

test('of a Windows host, by whoever may be asked there', async () => {
  const text = await facts({ platform: 'win32', root: false }, 'json', { host: 'win1' })
  const { host: name, system } = factsFormat.newest.schema.parse(JSON.parse(text))
  expect([name, system.os, system.cpus]).toEqual(['win1', 'windows', 2])
})

test.each<[Partial<Place>, string]>([
  [{ platform: 'darwin' }, 'FACTS_NOT_TAKEN'],
  [{ root: false }, 'FACTS_NOT_ROOT'],
])('at %o it is %s', async (place, code) => {
  await expect(facts(place, 'json')).rejects.toMatchObject({ code })
})
