import { expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { networkName } from '../../lab/hosts/names.ts'
import { hardwareAddress } from '../../lab/hosts/network.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { HostFault } from '../support/host-faults.ts'
import type { Operator } from '../support/operator.ts'
import { createRandom, repeatShuffled } from '../support/random.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import { expectResetLeavesNothing } from '../support/up-expectations.ts'
import { countHolders, findHolders, measureOutage, watchVirtualIp } from '../support/virtual-ip-client.ts'
import { type VirtualIpRound, writeVirtualIpEvidence } from '../support/virtual-ip-evidence.ts'
import { virtualIpFaults } from '../support/virtual-ip-faults.ts'

const seed = Number(process.env['VIRTUAL_IP_SEED'] ?? 28)
/** A lower number saves time while the suite is developed. */
const roundCount = Number(process.env['VIRTUAL_IP_ROUNDS'] ?? 30)
const rounds = planRounds()
const done: VirtualIpRound[] = []
/** Longest outage that a client may see. */
const maxOutageMs = 10_000

const clusterNow = setUpCluster('virtual-ip', '3+0', '1.37.1', {
  survivesPowerCut: true,
  async prepare(operator) {
    process.stderr.write(`virtual IP: ${roundCount} rounds, seed ${seed}\n`)
    const [first] = operator.hosts
    await setVirtualIp(operator, first?.address.replace(/\d+$/, '5'))
  },
})

test('one control plane has the address, and the kubeconfig uses it', async () => {
  const { operator } = clusterNow()
  await waitForOneHolder()
  const { stdout } = await operator.must(0, 'kubeconfig')
  expect(stdout).toContain(`server: https://${readAddress('5')}:6443`)
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
})

test.each(rounds)('round $turn: $fault.name', { timeout: 600_000 }, async ({ fault }) => {
  const result = await runRound(fault)
  done.push(result)
  // Written after each round, so that an interrupted suite leaves a report, too.
  await writeVirtualIpEvidence({ seed, rounds: done })
  process.stderr.write(`${JSON.stringify(result)}\n`)
  expect(result.holders).toBe(1)
  expect(result.outageMs).toBeLessThan(maxOutageMs)
})

test('another address is a normal change, and the previous one is removed', async () => {
  const { operator, hosts } = clusterNow()
  // The machine that runs the lab has this address, so it is in use.
  await setVirtualIp(operator, readAddress('1'))
  const refused = await operator.hyperkube('plan')
  expect(refused.stderr + refused.stdout).toContain('VIRTUAL_IP_IN_USE')
  await setVirtualIp(operator, readAddress('6'))
  await operator.must(0, 'up', '--yes')
  await waitForOneHolder('6')
  expect(await findHolders(readAddress('5'), hosts)).toEqual([])
})

test('without a virtual IP no host has the address or keepalived', async () => {
  const { operator, hosts } = clusterNow()
  await setVirtualIp(operator, undefined)
  await operator.must(0, 'up', '--yes')
  expect(await findHolders(readAddress('6'), hosts)).toEqual([])
  for (const host of hosts) {
    const { stdout } = await host.script(
      'systemctl list-unit-files --no-legend "hyperkube-keepalived*" || true; pgrep -l keepalived || true',
    )
    expect(stdout, host.name).toBe('')
  }
  await setVirtualIp(operator, readAddress('5'))
  await operator.must(0, 'up', '--yes')
  await waitForOneHolder()
})

test('reset restores the initial state of every host', async () => {
  await expectResetLeavesNothing(clusterNow(), undefined)
  expect(await findHolders(readAddress('5'), clusterNow().hosts)).toEqual([])
})

interface PlannedRound {
  readonly turn: number
  readonly fault: HostFault
}

function planRounds(): readonly PlannedRound[] {
  const faults = repeatShuffled(virtualIpFaults, roundCount, createRandom(seed))
  return faults.map((fault, index) => ({ turn: index + 1, fault }))
}

async function runRound(fault: HostFault): Promise<VirtualIpRound> {
  const { lab, hosts, identity } = clusterNow()
  const address = readAddress('5')
  await waitForOneHolder()
  const watch = watchVirtualIp(address, identity.cas.kubernetes.certificate, hosts)
  try {
    await pollUntil(
      'a client that succeeds',
      async () => watch.results.filter(({ ready }) => ready).length > 10,
      { timeoutMs: 30_000, intervalMs: 100 },
    )
    // On a busy machine the address may have moved since the last check.
    const holder = await waitForOneHolder()
    const others = hosts.filter(({ name }) => name !== holder.name)
    const injectedAt = performance.now()
    await fault.inject(lab, holder, others)
    const next = await waitForNextHolder(address, holder)
    const since = performance.now()
    await pollUntil(
      'ten more responses',
      async () => watch.results.filter(({ at, ready }) => ready && at > since).length > 10,
      { timeoutMs: 60_000, intervalMs: 100 },
    )
    await expectArpEntry(address, next)
    // The watch continues during the recovery, because a host that returns must not take the address.
    await fault.recover(lab, holder)
    await waitForReadyServers()
    await watch.stop()
    return {
      fault: fault.name,
      holder: holder.name,
      next: next.name,
      outageMs: Math.round(measureOutage(watch, injectedAt)),
      holders: countHolders(watch),
    }
  } finally {
    await watch.stop()
  }
}

async function waitForNextHolder(address: string, previous: Host): Promise<Host> {
  const { hosts } = clusterNow()
  let next: Host | undefined
  await pollUntil(
    'another holder',
    async () => {
      const names = await findHolders(address, hosts)
      next = hosts.find(({ name }) => name !== previous.name && names.includes(name))
      return next !== undefined
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  )
  if (next === undefined) throw new Error('there is no holder')
  return next
}

async function waitForOneHolder(last = '5'): Promise<Host> {
  const { hosts } = clusterNow()
  await waitForReadyServers()
  let names: readonly string[] = []
  await pollUntil(
    'one holder',
    async () => {
      names = await findHolders(readAddress(last), hosts)
      return names.length === 1
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  )
  const holder = hosts.find(({ name }) => name === names[0])
  if (holder === undefined) throw new Error('there is no holder')
  return holder
}

/** Waits until etcd, API server and keepalived of every host are ready. */
async function waitForReadyServers(): Promise<void> {
  const script = `curl -sfo /dev/null http://127.0.0.1:2381/readyz
    curl -sfko /dev/null https://127.0.0.1:6443/readyz
    systemctl is-active --quiet hyperkube-keepalived`
  for (const host of clusterNow().hosts)
    await pollUntil(
      `a ready ${host.name}`,
      async () => (await host.script(script, { allowFailure: true })).code === 0,
      { timeoutMs: 240_000, intervalMs: 500 },
    )
}

/** Checks that the ARP entry of the bridge names the holder. */
async function expectArpEntry(address: string, holder: Host): Promise<void> {
  const argv = ['ip', 'neigh', 'show', address, 'dev', networkName(clusterNow().lab.network)] as const
  expect((await runProgram(argv)).stdout).toContain(hardwareAddress(holder.address))
}

async function setVirtualIp(operator: Operator, address: string | undefined): Promise<void> {
  await operator.edit((document) => {
    if (address === undefined) document.deleteIn(['spec', 'api', 'virtualIP'])
    else document.setIn(['spec', 'api', 'virtualIP'], address)
  })
}

/** Address in the subnet of the lab. Addresses below .11 belong to no host. */
function readAddress(last: string): string {
  return `10.210.${clusterNow().lab.network}.${last}`
}
