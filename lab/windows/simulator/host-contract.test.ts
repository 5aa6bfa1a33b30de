import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type PowerShellHost,
  powershellHost,
} from '../../../src/agent/host/windows/powershell/powershell-host.ts'
import { readHostScript } from '../../../src/agent/host/windows/powershell/session.ts'
import { hostContract } from './host-contract.ts'
import { snapshotMachine } from './machine-state.ts'
import { newMachine } from './new-machine.ts'
import { simulatedHost } from './simulated-host.ts'

const scratch = String.raw`C:\hyperkube-contract`

test.each(hostContract)('simulated: $name', async ({ check }) => {
  const { host } = simulatedHost(newMachine(new Map()))
  await expect(check(host, scratch)).resolves.toBeUndefined()
})

test.each(hostContract.filter(({ changes }) => !changes))(
  '$name: a check without changes leaves the host unchanged',
  async ({ check }) => {
    const simulated = simulatedHost(newMachine(new Map()))
    const before = snapshotMachine(simulated.machine)
    await check(simulated.host, scratch)
    expect(simulated.changes).toEqual([])
    expect(snapshotMachine(simulated.machine)).toEqual(before)
  },
)

let powershell: PowerShellHost | undefined
beforeAll(async () => {
  const fake = join(import.meta.dirname, './fake-powershell.ts')
  powershell = powershellHost({ script: await readHostScript(), argv: [process.execPath, fake] })
})
afterAll(async () => powershell?.[Symbol.asyncDispose]())

test.each(hostContract)('over PowerShell: $name', async ({ check }) => {
  if (powershell === undefined) throw new Error('there is no host')
  await expect(check(powershell.host, scratch)).resolves.toBeUndefined()
  expect(powershell.processes).toBe(1)
})
