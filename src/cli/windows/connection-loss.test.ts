import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bridge } from '../../agent/server/bridge.ts'
import type { HostWork } from '../../agent/server/dispatch.ts'
import { ClaimStore } from '../../agent/operator-lock/operator-lock-store.ts'
import { RunLog } from '../../agent/runs/run-event-log.ts'
import { Runs } from '../../agent/runs/runs.ts'
import { type AgentServer, serveAgent } from '../../agent/server/server.ts'
import { hostPeers } from '../../agent/network-probe/network-probe.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { applyThrough } from '../../lifecycle/apply-plan.ts'
import { Session } from '../../lifecycle/session.ts'
import type { What } from '../../lifecycle/event-stream.ts'
import { asciiJson } from '../../kit/ascii.ts'
import { type TestHost, testHost } from '../../ssh/windows/testing/fake-windows-host.ts'

/**
 * The first network of a Windows host takes its adapter, and with it every connection, also that of whoever has asked
 * for it. Here the way is a real ssh, the agent a real one, and only its work is a script.
 */
const { signal } = new AbortController()
const claim = { holder: 'ana', generation: 1 }
const plan: NodePlan = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'NodePlan',
  cluster: { name: 'shop', id: '0b0e6a52-6f0a-4b8e-9d3c-2f1f0a1f2c3d' },
  host: 'win1',
  address: '10.0.0.7',
  os: 'windows',
  arch: 'amd64',
  roles: ['worker'],
  components: [],
}

let directory: string
let host: TestHost
let server: AgentServer
let runs: Runs
/** How often somebody was taken through the plan: a run that is gone on with is the same one. */
let applied = 0
const called: string[] = []

const never = async (): Promise<never> => Promise.reject(new Error('not here'))
const work: HostWork = {
  facts: never,
  diff: never,
  formerPlan: never,
  certificates: never,
  certificateRequests: never,
  async apply(_ask, emit) {
    applied++
    emit({ type: 'log', lines: ['before the switch'] })
    host.cut()
    emit({ type: 'log', lines: ['while nobody heard: ü'] })
    // As long as the adapter is away.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    host.mend()
    emit({ type: 'log', lines: ['after the switch'] })
  },
  stopServices: never,
  placeEtcd: never,
  clearEtcd: never,
  restoring: async () => undefined,
  endRestore: never,
  trial: async () => undefined,
  beginTrial: never,
  moveTrial: never,
  keepTrial: never,
  goBack: never,
  reset: never,
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  const socket = join(directory, 'agent.sock')
  runs = new Runs('win1', new RunLog(join(directory, 'runs')), () => new Date())
  const claims = await ClaimStore.open(join(directory, 'claim.json'), () => Date.now())
  const healer = { health: never, pause: never }
  server = await serveAgent({ work, runs, claims, peers: hostPeers(), healer, version: '0.1.0' }, socket)
  host = await testHost(async ([program, word], { stdin, stdout }) => {
    called.push(`${program} ${word}`)
    const answer = (line: string): unknown => stdout.write(asciiJson(line))
    await bridge({ path: socket, requests: stdin, answer, signal })
    return 0
  })
  await mkdir(host.placed(String.raw`C:\hyperkube\state\agent`), { recursive: true })
  await writeFile(host.placed(String.raw`C:\hyperkube\state\agent\current`), '0.1.0\n')
})
afterAll(async () => {
  await runs.stop()
  await server.close()
  await host[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

test('an apply whose connection breaks in the middle is gone on with, and heard once to its end', async () => {
  let logins = 0
  const connect = async () => {
    logins++
    return host.connect()
  }
  const session = new Session('win1', await connect(), connect, signal)
  const told: What[] = []
  await session.ask({ type: 'claim', claim, force: false }, 'claimed')
  await applyThrough(
    session,
    { plan, claim, secrets: new Map(), certificates: {} },
    'network',
    (what) => void told.push(what),
  )
  const lines = told.flatMap((what) => (what.type === 'log' ? what.lines : []))
  expect(lines).toEqual(['before the switch', 'while nobody heard: ü', 'after the switch'])
  expect([applied, logins > 1]).toEqual([1, true])
  expect(new Set(called)).toEqual(
    new Set([String.raw`C:\hyperkube\programs\hyperkube-0.1.0\hyperkube.exe agent-call`]),
  )
  await session.close()
})
