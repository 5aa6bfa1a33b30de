import { expect, test } from 'vitest'
import type { UnknownHostKey } from '../../ssh/host-key-errors.ts'
import { buildTestKey } from '../../ssh/testing/host-keys.ts'
import { acceptHostKeys, refuseUnknownHostKeys } from './accept-host-keys.ts'
import type { ActionRun, Confirmation } from './action-run.ts'

const { signal } = new AbortController()

function buildUnknown(name: string): UnknownHostKey {
  return { name, address: '10.0.0.1', port: 22, key: buildTestKey(name), hasCa: false }
}

interface AcceptResult {
  readonly accepted: readonly string[]
  readonly shown: readonly string[]
  readonly questions: number
  readonly error: unknown
}

/** Runs the phase. Each entry of `rounds` lists the hosts with unknown keys that one search finds. */
async function runPhase(
  rounds: readonly string[][],
  reply: Confirmation | 'read-only',
): Promise<AcceptResult> {
  const remaining = [...rounds]
  const [accepted, shown]: [string[], string[]] = [[], []]
  let questions = 0
  const run: Pick<ActionRun, 'emit' | 'show' | 'confirm'> = {
    emit: () => undefined,
    show: (notice) =>
      void shown.push(
        notice.type === 'host-keys' ? notice.unknown.map(({ name }) => name).join() : notice.type,
      ),
    confirm: async () => {
      questions++
      return reply === 'read-only' ? 'confirmed' : reply
    },
  }
  const deps = {
    connector: { findUnknownKeys: async () => (remaining.shift() ?? []).map(buildUnknown) },
    keys: {
      accept: (keys: readonly UnknownHostKey[]) => void accepted.push(...keys.map(({ name }) => name)),
    },
    acceptCommand: 'hyperkube plan --accept-new-host-keys',
    signal,
  }
  const error = await acceptHostKeys(
    deps,
    [],
    reply === 'read-only' ? refuseUnknownHostKeys(run) : run,
  ).catch((thrown: unknown) => thrown)
  return { accepted, shown, questions, error }
}

test('known hosts need no confirmation', async () => {
  expect(await runPhase([], 'declined')).toEqual({ accepted: [], shown: [], questions: 0, error: undefined })
})

test('the host keys of all hosts need one confirmation', async () => {
  expect(await runPhase([['cp1', 'w1']], 'confirmed')).toEqual({
    accepted: ['cp1', 'w1'],
    shown: ['cp1,w1'],
    questions: 1,
    error: undefined,
  })
})

test('hosts behind an unknown bastion need a second confirmation', async () => {
  const { accepted, questions } = await runPhase([['jump'], ['cp1', 'w1']], 'confirmed')
  expect([accepted, questions]).toEqual([['jump', 'cp1', 'w1'], 2])
})

test.each(['declined', 'no-terminal', 'read-only'] as const)(
  '%s: no unknown host key is accepted',
  async (reply) => {
    const { accepted, error } = await runPhase([['cp1', 'w1']], reply)
    expect(accepted).toEqual([])
    expect(error).toMatchObject({
      code: 'SSH_HOST_KEY_UNKNOWN',
      hint: expect.stringContaining('run: hyperkube plan --accept-new-host-keys'),
    })
  },
)
