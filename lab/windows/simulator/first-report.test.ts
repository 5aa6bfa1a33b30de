import { expect, test } from 'vitest'
import { newMachine } from './new-machine.ts'
import { snapshotOf } from './machine-state.ts'
import { simulatedHost } from './simulated-host.ts'
import { firstReport } from './first-report.ts'
import { hostContract } from './host-contract.ts'
import { allOperations } from '../../../src/agent/windows/operations/table.ts'

const scratch = String.raw`C:\hyperkube-first-run`
const now = (): number => 0

test('every operation that only looks is asked, and nothing is changed', async () => {
  const simulated = simulatedHost(newMachine(new Map()))
  const before = snapshotOf(simulated.machine)
  const { looks, checks } = await firstReport(simulated.host, scratch, { changes: false, now })
  const looking = allOperations.filter(({ changes }) => !changes).map(({ name }) => name)
  expect(looks.map(({ operation }) => operation).toSorted()).toEqual(looking.toSorted())
  expect([...looks, ...checks].filter(({ error }) => error !== undefined)).toEqual([])
  expect(checks.some(({ changes }) => changes)).toBe(false)
  expect(snapshotOf(simulated.machine)).toEqual(before)
})

test('what changes the host is done when it is asked for, and taken away again', async () => {
  const { host } = simulatedHost(newMachine(new Map()))
  const { checks } = await firstReport(host, scratch, { changes: true, now })
  expect(checks.map(({ check }) => check)).toEqual(hostContract.map(({ name }) => name))
  expect(checks.filter(({ error }) => error !== undefined)).toEqual([])
  expect(await host.firewall.list({ group: 'hyperkube-contract' })).toEqual([])
  expect(await host.services.list({ names: ['hyperkube-contract'] })).toEqual([])
})

test('one that goes wrong is told of, and all others are asked all the same', async () => {
  const simulated = simulatedHost(newMachine(new Map()))
  simulated.trouble.push('rubbish-before')
  const { looks } = await firstReport(simulated.host, scratch, { changes: false, now })
  expect(looks[0]?.error).toContain('no answer')
  expect(looks.filter(({ error }) => error !== undefined)).toHaveLength(1)
})
