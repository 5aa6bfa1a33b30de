import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest } from '../../contract/request.ts'
import type { EventBody } from '../agents/event-stream.ts'
import type { RunningProgram } from '../../ssh/remote.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { resetHost, returnHost } from './remove-host.ts'

const claim = { holder: 'ana', generation: 1 }
const op: Op = {
  component: 'etcd',
  stage: 'etcd',
  action: 'remove',
  target: 'service',
  name: 'etcd.service',
  because: [],
}

async function reset(...events: readonly EventBody[]) {
  const requests: AgentRequest['body'][] = []
  const emitted: unknown[] = []
  async function* script(): AsyncGenerator<EventBody> {
    yield* events
    // The agent no longer exists at this point, so the test hangs if resetHost waits for more events.
    await new Promise(() => undefined)
  }
  const session = scriptedSession('cp1', { run: script, requests })
  const error: unknown = await resetHost(
    session,
    claim,
    (what, about) => void emitted.push([what.type, about]),
  ).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { error, emitted, types: requests.map(({ type }) => type) }
}

test('a reset ends with the run-ended event, without further requests to the removed agent', async () => {
  const { error, emitted, types } = await reset(
    { type: 'run-started', command: 'reset' },
    { type: 'op-ended', op, result: { outcome: 'done' } },
    { type: 'run-ended', result: { outcome: 'done' } },
  )
  expect(error).toBeUndefined()
  expect(emitted).toEqual([['op-ended', { host: 'cp1', component: 'etcd' }]])
  expect(types).toEqual(['hello', 'reset', 'attach'])
})

test('a failed reset throws the error of the host', async () => {
  const failure = { code: 'APPLY_OP_FAILED', message: 'mounts could not be taken away', hint: 'inspect' }
  const { error } = await reset({ type: 'run-ended', result: { outcome: 'failed', failure } })
  expect(error).toMatchObject({ ...failure, host: 'cp1' })
})

const interruptedRun = async function* (): AsyncGenerator<EventBody> {
  yield { type: 'run-ended', result: { outcome: 'interrupted' } }
}

test('a rollback continues after its host lost power', async () => {
  const requests: AgentRequest['body'][] = []
  const scripts = [interruptedRun, successfulRun]
  const session = scriptedSession('cp1', {
    run: (...args) => (scripts.shift() ?? successfulRun)(...args),
    requests,
  })
  await returnHost(session, claim, () => undefined)
  expect(requests.filter(({ type }) => type === 'return-host')).toHaveLength(2)
})

/**
 * Returns a host whose agent removes itself after the run of a killed command. Another run has waited behind that
 * run. `left` is the exit code of the search for state that the agent has left behind.
 */
async function returnBehindAnotherRun(left: number): Promise<void> {
  const agent = { run: interruptedRun, requests: [] }
  const real = scriptedSession('cp1', agent).remote
  if (real === undefined) throw new Error('there is no remote')
  const programs: RunningProgram[] = []
  let isRemoved = false
  const session = scriptedSession('cp1', {
    ...agent,
    remote: {
      async open(...args) {
        const program = isRemoved ? runMissingProgram() : await real.open(...args)
        programs.push(program)
        return program
      },
      // The agent ends while the command waits for its end.
      async exec(argv) {
        isRemoved = true
        for (const program of programs) program.kill()
        const code = argv.some((one) => one.includes('/var/lib/hyperkube')) ? left : 0
        return { code, stdout: '', stderr: '', bytes: Buffer.alloc(0) }
      },
    },
  })
  await returnHost(session, claim, () => undefined)
}

test('a rollback that waited for the rollback of a killed command ends with the agent', async () => {
  expect(await returnBehindAnotherRun(0)).toBeUndefined()
})

test('a rollback is interrupted if its host lost power while the agent removed itself', async () => {
  await expect(returnBehindAnotherRun(1)).rejects.toMatchObject({ code: 'AGENT_INTERRUPTED', host: 'cp1' })
})

/** Ends as a shell does that finds no such program. */
function runMissingProgram(): RunningProgram {
  const stdout = new PassThrough()
  stdout.end()
  const ended = Promise.resolve({ code: 127, stderr: 'hyperkube: not found' })
  return { stdin: new PassThrough(), stdout, ended, kill: () => undefined }
}

test('a reset that is interrupted again and again is an error', async () => {
  const session = scriptedSession('cp1', { run: interruptedRun, requests: [] })
  await expect(resetHost(session, claim, () => undefined)).rejects.toMatchObject({
    code: 'AGENT_INTERRUPTED',
    host: 'cp1',
  })
})
