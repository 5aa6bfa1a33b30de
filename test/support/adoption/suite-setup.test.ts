import { expect, test } from 'vitest'
import { SuiteSetup } from './suite-setup.ts'

/** Opens two resources and ends. Returns what happened, in order. */
async function runSuite(openSecond: () => void): Promise<string[]> {
  const done: string[] = []
  const setup = new SuiteSetup()
  try {
    setup.use({ [Symbol.asyncDispose]: async () => void done.push('cluster closed') })
    openSecond()
    setup.defer(() => void done.push('api closed'))
    setup.complete()
  } catch {
    done.push('set-up failed')
  }
  await setup.end(async () => void done.push('results written'))
  return done
}

test('after the set-up, results are written and resources are closed, the last one first', async () => {
  expect(await runSuite(() => undefined)).toEqual(['results written', 'api closed', 'cluster closed'])
})

test('after a failed set-up, only what was opened is closed, and no results are written', async () => {
  const fail = (): never => {
    throw new Error('no API')
  }
  expect(await runSuite(fail)).toEqual(['set-up failed', 'cluster closed'])
})

test('a failure before the first resource has no second error', async () => {
  const setup = new SuiteSetup()
  await expect(setup.end(async () => Promise.reject(new Error('no cluster')))).resolves.toBeUndefined()
})

test('resources are closed also if the results cannot be written', async () => {
  const done: string[] = []
  const setup = new SuiteSetup()
  setup.defer(() => void done.push('closed'))
  setup.complete()
  await expect(setup.end(async () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
  expect(done).toEqual(['closed'])
})
