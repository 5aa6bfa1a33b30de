import { expect, test } from 'vitest'
import type { GlobalOptions } from '../command.ts'
import { inMemory, type World } from '../testing/run-in-memory.ts'
import { Interrupted } from '../prompts.ts'
import { agreed } from './confirm.ts'

async function answer(more: Partial<GlobalOptions>, world: World = {}, mayAsk = true) {
  const { context, ended } = inMemory({}, world)
  const options: GlobalOptions = { file: 'cluster.yml', output: 'table', input: true, ...more }
  const result = await agreed(context, options, mayAsk)
  return { result, ...ended(0) }
}

test('somebody at a terminal is asked', async () => {
  expect(await answer({}, { answers: [true] })).toMatchObject({
    result: true,
    asked: ['shall this be done?'],
  })
  expect(await answer({}, { answers: [false] })).toMatchObject({ result: 3, stderr: 'nothing was done\n' })
  await expect(answer({}, { answers: [] })).rejects.toThrow(Interrupted)
})

test('--yes is an answer, also where nobody is', async () => {
  expect(await answer({ yes: true })).toMatchObject({ result: true, asked: [] })
  expect(await answer({ yes: true, input: false })).toMatchObject({ result: true })
})

test('where nobody can be asked, nothing is done and the flag is named', async () => {
  const nobody = { result: 2, stderr: expect.stringContaining('  → --yes says so\n') }
  expect(await answer({})).toMatchObject(nobody)
  expect(await answer({ input: false }, { answers: [true] })).toMatchObject(nobody)
  expect(await answer({}, { answers: [true] }, false)).toMatchObject(nobody)
})
