import { expect, test } from 'vitest'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { newMachine } from '../../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../../lab/windows/simulator/simulated-host.ts'
import { preferred } from './this-windows.ts'

type Services = WindowsOperations['services']

function failing(code: string): Services {
  const fail = async (): Promise<never> => {
    throw new HyperkubeError(code, 'no')
  }
  return { list: fail, put: fail, start: fail, stop: fail, remove: fail }
}

test('whom nobody reaches has somebody in his place', async () => {
  const { host } = simulatedHost(newMachine(new Map()))
  const services = preferred(failing('SCM_UNREACHABLE'), host.services)
  expect((await services.list({ names: ['hns'] })).map(({ name }) => name)).toEqual(['hns'])
})

test('who was reached and failed has not: nobody knows what was done', async () => {
  const { host, changes } = simulatedHost(newMachine(new Map()))
  const services = preferred(failing('SCM_RUBBISH'), host.services)
  await expect(services.remove({ name: 'hns' })).rejects.toMatchObject({ code: 'SCM_RUBBISH' })
  expect(changes).toEqual([])
})
