import { expect, test } from 'vitest'
import { labHost } from '../../agent/facts/testing/lab-host.ts'
import { createFakeFactSource as host } from '../../agent/facts/testing/fake-fact-source.ts'
import type { BasicWindowsFactSource } from '../../agent/facts/windows/source.ts'
import { newMachine } from '../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../lab/windows/simulator/simulated-host.ts'
import { factsFormat } from '../../contract/facts.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { OutputFormat } from '../command/command.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { readWindowsFacts, createFactsCommand, type FactsEnvironment } from './facts.ts'

const nt1: Omit<BasicWindowsFactSource, 'base'> = {
  operations: simulatedHost(newMachine(new Map())).host,
  arch: 'x64',
  cpus: 2,
  memoryBytes: 2 ** 33,
  release: '10.0.20348',
  hostname: 'nt1',
  interfaces: () => ({
    Ethernet: [
      {
        ...{ address: '10.0.0.31', netmask: '255.255.255.0', family: 'IPv4', mac: '', internal: false },
        cidr: '10.0.0.31/24',
      },
    ],
  }),
  now: () => new Date(0),
  space: async () => ({ totalBytes: 2 ** 36, availableBytes: 2 ** 35 }),
}

const linuxEnvironment: FactsEnvironment = {
  platform: 'linux',
  isRoot: true,
  source: host(labHost),
  windows: async (base, name = 'nt1') => readWindowsFacts({ ...nt1, base }, name),
}

async function facts(
  environment: Partial<FactsEnvironment>,
  output: OutputFormat,
  more: object = {},
): Promise<string> {
  const { context, collectResult } = createInMemoryContext({})
  const command = createFactsCommand(() => ({ ...linuxEnvironment, ...environment }))
  const baseDirectory = String.raw`C:\hyperkube`
  const options = { file: 'cluster.yml', output, input: false, baseDirectory, ...more }
  return collectResult(await command.run(context, { args: [], options })).stdout
}

test('the table output summarizes the facts of a Linux host', async () => {
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
      programs      conntrack, ethtool, ipset, iptables, modprobe, mount, nft, socat, umount
      root lacks    CAP_SYS_RESOURCE
      resolver      /etc/resolv.conf: no server
    "
  `)
})

test('the JSON output is a facts document with the name of --host', async () => {
  const read = async (more: object): Promise<string> =>
    factsFormat.newest.schema.parse(JSON.parse(await facts({}, 'json', more))).host
  expect(await read({})).toBe('h1')
  expect(await read({ host: 'cp1' })).toBe('cp1')
})

test('facts of a Windows host are read without root', async () => {
  const text = await facts({ platform: 'win32', isRoot: false }, 'json', { host: 'win1' })
  const { host: name, system } = factsFormat.newest.schema.parse(JSON.parse(text))
  expect([name, system.os, system.cpus]).toEqual(['win1', 'windows', 2])
})

test('if PowerShell of a Windows host fails, the basic facts are printed before the error', async () => {
  const failure = new HyperkubeError('POWERSHELL_ENDED', 'system.describe was not answered')
  const describe = async () => Promise.reject(failure)
  const operations = { ...nt1.operations, system: { describe } }
  const { context, collectResult } = createInMemoryContext({})
  const command = createFactsCommand(() => ({
    ...linuxEnvironment,
    platform: 'win32',
    windows: async (base) => readWindowsFacts({ ...nt1, operations, base }, 'win1'),
  }))
  const options = {
    file: '',
    output: 'table',
    input: false,
    baseDirectory: String.raw`C:\hyperkube`,
  } as const
  await expect(command.run(context, { args: [], options })).rejects.toBe(failure)
  expect(collectResult(1).stdout).toMatchInlineSnapshot(`
    "win1: Windows build 20348, amd64; other facts are unavailable
      size       2 CPUs, 8.0 GiB of memory
      addresses  Ethernet 10.0.0.31/24
      disks      C:\\ 32.0 of 64.0 GiB free
    "
  `)
})

test('the table output summarizes the facts of a Windows host', async () => {
  expect(await facts({ platform: 'win32' }, 'table')).toMatchInlineSnapshot(`
    "nt1: Windows build 20348.2700, amd64
      size       2 CPUs, 8.0 GiB of memory
      addresses  Ethernet 10.0.0.7/24, Backup network 192.168.50.7/24
      disks      C:\\ 32.0 of 64.0 GiB free
      edition    ServerStandard, Server Core
      features   Containers
      networks   nat (nat)
    "
  `)
})

test.each<[Partial<FactsEnvironment>, string]>([
  [{ platform: 'darwin' }, 'FACTS_NOT_TAKEN'],
  [{ isRoot: false }, 'FACTS_NOT_ROOT'],
])('facts in the environment %o fail with %s', async (environment, code) => {
  await expect(facts(environment, 'json')).rejects.toMatchObject({ code })
})
