import { expect, test } from 'vitest'
import type { GlobalOptions } from './command.ts'
import { createInMemoryContext, type InMemoryOptions } from '../testing/run-in-memory.ts'
import { Interrupted } from './prompts.ts'
import { confirmChanges, exitCodeByConfirmation } from './confirm.ts'

async function confirm(more: Partial<GlobalOptions>, environment: InMemoryOptions = {}, canPrompt = true) {
  const { context, collectResult } = createInMemoryContext({}, environment)
  const options: GlobalOptions = { file: 'cluster.yml', output: 'table', input: true, ...more }
  const confirmation = await confirmChanges({ ...context, typedCommand: 'up' }, options, canPrompt)
  const result = confirmation === 'confirmed' || exitCodeByConfirmation[confirmation]
  return { result, ...collectResult(0) }
}

test('an operator at a terminal gets a prompt', async () => {
  expect(await confirm({}, { replies: [true] })).toMatchObject({
    result: true,
    prompts: ['make these changes?'],
  })
  expect(await confirm({}, { replies: [false] })).toMatchObject({
    result: 3,
    stderr: 'nothing was changed\n',
  })
  await expect(confirm({}, { replies: [] })).rejects.toThrow(Interrupted)
})

test('--yes confirms, also without a terminal', async () => {
  expect(await confirm({ yes: true })).toMatchObject({ result: true, prompts: [] })
  expect(await confirm({ yes: true, input: false })).toMatchObject({ result: true })
})

test('without a terminal changes are not confirmed, and the hint names --yes', async () => {
  const noPrompt = {
    result: 2,
    stderr: expect.stringContaining('  → to confirm all changes: hyperkube up --yes\n'),
  }
  expect(await confirm({})).toMatchObject(noPrompt)
  expect(await confirm({ input: false }, { replies: [true] })).toMatchObject(noPrompt)
  expect(await confirm({}, { replies: [true] }, false)).toMatchObject(noPrompt)
})
