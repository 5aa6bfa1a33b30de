import { expect, test } from 'vitest'
import { buildManagerConfig, CompletedConfig, managerOptions } from './config.ts'
import { controllers } from './table.ts'

function read(options: object) {
  return buildManagerConfig(managerOptions.parse({ kubeconfig: '/k', ...options }), controllers)
}

test('missing options have defaults', () => {
  expect(read({})).toEqual({
    kubeconfig: '/k',
    controllers: controllers.filter(({ byDefault }) => byDefault),
    listen: { host: '127.0.0.1', port: 6447 },
    election: { duration: 15_000, deadline: 10_000, retry: 2000, grace: 10_000 },
  })
})

test('leader election times are durations such as 15s, and unsafe times are refused', () => {
  const options = {
    leaderElectLeaseDuration: '1m',
    leaderElectRenewDeadline: '40s',
    leaderElectRetryPeriod: '5s',
  }
  expect(read(options).election).toMatchObject({ duration: 60_000, deadline: 40_000, retry: 5000 })
  expect(() => read({ leaderElectRetryPeriod: '5' })).toThrow('must be a duration such as 15s')
  expect(() => read({ leaderElectRenewDeadline: '15s' })).toThrow(
    expect.objectContaining({ code: 'ELECTION_TIMING' }),
  )
})

test.each([
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['127.1.2.3:80', { host: '127.1.2.3', port: 80 }],
  ['[::1]:80', { host: '::1', port: 80 }],
])('the loopback address %s is accepted', (listen, where) => {
  expect(read({ listen }).listen).toEqual(where)
})

test.each([
  '0.0.0.0:80',
  '10.0.0.1:80',
  '[::]:80',
  '127.0.0.1',
  '127.0.0.1.example.com:80',
  '127.0.0.1:70000',
  '',
])('the listen address %j is refused', (listen) => {
  expect(() => read({ listen })).toThrow(expect.objectContaining({ code: 'MANAGER_NOT_LOOPBACK' }))
})

test('a missing kubeconfig is reported', async () => {
  const machine = { readFile: async () => Promise.reject(new Error('ENOENT')), machine: 'a', uuid: () => '1' }
  await expect(CompletedConfig.complete(read({}), machine)).rejects.toMatchObject({
    code: 'KUBECONFIG_NOT_READ',
    message: '/k cannot be read: ENOENT',
  })
})
