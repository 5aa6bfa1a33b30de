import { expect, test } from 'vitest'
import { injectFaultOn, removeFirewallRule } from '../../lab/windows/start-hosts.ts'
import type { SimulatedFault } from '../../lab/windows/simulator/faults.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { tamperWithFile, readText, setUpWindowsCluster } from '../support/windows-cluster.ts'

/**
 * Cluster in which only Windows itself is simulated; everything else is real. docs/windows.md explains what
 * this test proves.
 */
const cluster = setUpWindowsCluster('windows', ['v1.37.1'])

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] }
  }[]
}

test('all nodes are Ready, and two of them run Windows', async () => {
  const { items } = await cluster().api.get<NodeList>('/api/v1/nodes')
  const ready = items.map(({ metadata, status }) => [
    metadata.name,
    metadata.labels['kubernetes.io/os'],
    status.conditions.find(({ type }) => type === 'Ready')?.status,
  ])
  expect(ready.toSorted(([a = ''], [b = '']) => a.localeCompare(b))).toEqual([
    ['cp1', 'linux', 'True'],
    ['w1', 'linux', 'True'],
    ['win1', 'windows', 'True'],
    ['win2', 'windows', 'True'],
  ])
})

test('a second up has nothing to do', async () => {
  const { code } = await cluster().must(0, 'plan')
  expect(code).toBe(0)
})

test('status lists the services of Windows hosts, and logs returns their logs', async () => {
  const { stdout } = await cluster().must(0, 'status', '-o', 'json')
  const { hosts } = JSON.parse(stdout)
  expect(
    hosts.map(({ host, services }: { host: string; services: object[] }) => [host, services.length]),
  ).toContainEqual(['win1', 6])
  await cluster().must(0, 'doctor')
  await cluster().must(0, 'logs', '--limit', 'win1', '--lines', '5')
})

test('manual changes are repaired', async () => {
  const { windows, must } = cluster()
  // Without the pause, the agent may repair the drift before `plan` runs.
  await must(0, 'heal', 'pause', 'win1', '--for', '10m')
  const [win1] = windows
  if (win1 === undefined) throw new Error('there is no Windows host')
  const file = await tamperWithFile(win1, String.raw`C:\hyperkube\settings\kubelet\config.yaml`)
  await removeFirewallRule(win1, 'hyperkube-kubelet')
  await must(3, 'plan')
  await must(0, 'up', '--yes')
  expect(await readText(win1, file)).not.toContain('by hand')
  await must(0, 'plan')
  await must(0, 'heal', 'resume', 'win1')
})

test.each<SimulatedFault>([
  { name: 'killed-runner', role: 'kubelet' },
  { name: 'wrong-network-type', role: 'flanneld' },
  { name: 'reboot', role: 'containerd' },
])('$name is healed by the agent of the host', async (fault) => {
  const { windows, must } = cluster()
  const [, win2] = windows
  if (win2 === undefined) throw new Error('there is no second Windows host')
  const before = await recoveries()
  await injectFaultOn(win2, fault)
  await pollUntil('its agent to report the recovery', async () => (await recoveries()) > before, {
    timeoutMs: 180_000,
    intervalMs: 1000,
  })
  expect((await must(0, 'status')).stdout).not.toContain('unhealthy')
  await must(0, 'plan')
})

/** Counts the recoveries that the agent of the second Windows host has reported. */
async function recoveries(): Promise<number> {
  const { stdout } = await cluster().must(0, 'heal', 'status', 'win2', '-o', 'json')
  const { hosts }: { hosts: readonly { actions: readonly { action: string }[] }[] } = JSON.parse(stdout)
  return hosts.flatMap(({ actions }) => actions).filter(({ action }) => action === 'recovered').length
}

test('a reset restores every host and keeps foreign files', async () => {
  const { must, observe, before } = cluster()
  await must(0, 'reset', '--yes')
  expect(await observe()).toEqual(before)
})
