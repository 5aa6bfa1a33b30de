import { expect, test } from 'vitest'
import { buildTestKey } from '../../ssh/testing/host-keys.ts'
import { fingerprint } from '../../kit/ssh-public-key.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { confirmHostKeys } from './confirm-host-keys.ts'
import type { CommandContext, GlobalOptions } from './command.ts'

const unknown = ['cp1', 'w1'].map((name) => ({
  name,
  address: '10.0.0.1',
  port: 22,
  key: buildTestKey(name),
  hasCa: false,
}))
const base = { file: 'cluster.yml', output: 'table', input: true } as const

interface TestContext {
  readonly context: CommandContext
  /** Returns the prompts that the operator got. */
  readonly listPrompts: () => readonly string[]
}

function createContext(reply?: boolean): TestContext {
  const replies = reply === undefined ? {} : { replies: [reply] }
  const { context, collectResult } = createInMemoryContext({}, replies)
  return {
    context: { ...context, typedCommand: 'up -f shop.yml' },
    listPrompts: () => collectResult(0).prompts,
  }
}

test.each([
  [true, {}, 'confirmed'],
  [false, {}, 'declined'],
  // --yes confirms changes, and never a key.
  [false, { yes: true }, 'declined'],
  [true, { yes: true }, 'confirmed'],
] as const)(
  'a terminal gets one prompt for all host keys: reply %s with %j gives %s',
  async (reply, flags, result) => {
    const { context, listPrompts } = createContext(reply)
    expect(await confirmHostKeys(context, { ...base, ...flags }, unknown, true)).toBe(result)
    expect(listPrompts()).toEqual(['accept these ssh host keys?'])
  },
)

test.each<[string, boolean | undefined, Partial<GlobalOptions>, boolean]>([
  ['no terminal', undefined, {}, true],
  ['no terminal, with --yes', undefined, { yes: true }, true],
  ['--no-input', true, { input: false }, true],
  ['--progress json', true, {}, false],
])('%s: the error has fingerprints and the complete next command', async (_name, reply, flags, canPrompt) => {
  const { context, listPrompts } = createContext(reply)
  await expect(confirmHostKeys(context, { ...base, ...flags }, unknown, canPrompt)).rejects.toMatchObject({
    code: 'SSH_HOST_KEY_UNKNOWN',
    message: expect.stringContaining(`w1 ssh-ed25519 ${fingerprint(buildTestKey('w1'))}`),
    hint: expect.stringMatching(/run: hyperkube up -f shop\.yml --accept-new-host-keys$/),
  })
  expect(listPrompts()).toEqual([])
})

test('--accept-new-host-keys accepts without a prompt, with and without a terminal', async () => {
  const flags = { ...base, acceptNewHostKeys: true }
  for (const { context, listPrompts } of [createContext(), createContext(false)]) {
    expect(await confirmHostKeys(context, flags, unknown, true)).toBe('confirmed')
    expect(listPrompts()).toEqual([])
  }
})
