import { expect, test } from 'vitest'
import { newMachine } from './new-machine.ts'
import { snapshotMachine } from './machine-state.ts'
import { simulatedHost } from './simulated-host.ts'
import { runFirstReport } from './first-report.ts'
import { hostContract } from './host-contract.ts'
import { allOperations } from '../../../src/agent/host/windows-operations/table.ts'

const scratch = String.raw`C:\hyperkube-first-run`
const now = (): number => 0

test('every read operation runs, and nothing is changed', async () => {
  const simulated = simulatedHost(newMachine(new Map()))
  const before = snapshotMachine(simulated.machine)
  const { reads, checks } = await runFirstReport(simulated.host, scratch, { changes: false, now })
  const readOperations = allOperations.filter(({ changes }) => !changes).map(({ name }) => name)
  expect(reads.map(({ operation }) => operation).toSorted()).toEqual(readOperations.toSorted())
  expect([...reads, ...checks].filter(({ error }) => error !== undefined)).toEqual([])
  expect(checks.some(({ changes }) => changes)).toBe(false)
  expect(snapshotMachine(simulated.machine)).toEqual(before)
})

test('changes are made only on request, and reverted', async () => {
  const { host } = simulatedHost(newMachine(new Map()))
  const { checks } = await runFirstReport(host, scratch, { changes: true, now })
  expect(checks.map(({ check }) => check)).toEqual(hostContract.map(({ name }) => name))
  expect(checks.filter(({ error }) => error !== undefined)).toEqual([])
  expect(await host.firewall.list({ group: 'hyperkube-contract' })).toEqual([])
  expect(await host.services.list({ names: ['hyperkube-contract'] })).toEqual([])
})

test('a failed operation is reported, and all others still run', async () => {
  const simulated = simulatedHost(newMachine(new Map()))
  simulated.faults.push('invalid-output-before')
  const { reads } = await runFirstReport(simulated.host, scratch, { changes: false, now })
  expect(reads[0]?.error).toContain('invalid output')
  expect(reads.filter(({ error }) => error !== undefined)).toHaveLength(1)
})
