import { expect, test } from 'vitest'
import { newMachine } from '../../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../../lab/windows/simulator/simulated-host.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { WindowsOperations } from '../windows-operations/table.ts'
import { withFallback } from './this-windows.ts'

type Services = WindowsOperations['services']

function createFailingServices(code: string): Services {
  const fail = async (): Promise<never> => {
    throw new HyperkubeError(code, 'no')
  }
  return { list: fail, put: fail, start: fail, stop: fail, remove: fail }
}

test('the fallback is used if the service manager is unreachable', async () => {
  const { host } = simulatedHost(newMachine(new Map()))
  const services = withFallback(createFailingServices('SCM_UNREACHABLE'), host.services)
  expect((await services.list({ names: ['hns'] })).map(({ name }) => name)).toEqual(['hns'])
})

test('the fallback is not used after a failed call, because its effect is unknown', async () => {
  const { host, changes } = simulatedHost(newMachine(new Map()))
  const services = withFallback(createFailingServices('SCM_INVALID_OUTPUT'), host.services)
  await expect(services.remove({ name: 'hns' })).rejects.toMatchObject({ code: 'SCM_INVALID_OUTPUT' })
  expect(changes).toEqual([])
})
