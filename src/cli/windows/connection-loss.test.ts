import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNetworkProbe } from '../../agent/network-probe/network-probe.ts'
import { OperatorLockStore } from '../../agent/operator-lock/operator-lock-store.ts'
import type { HostOperations } from '../../agent/runs/host-operations.ts'
import { RunEventLog } from '../../agent/runs/run-event-log.ts'
import { Runs } from '../../agent/runs/runs.ts'
import { bridgeToAgent } from '../../agent/server/bridge.ts'
import { type AgentServer, serveAgent } from '../../agent/server/server.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { toAsciiJson } from '../../kit/text.ts'
import type { EventBody } from '../../lifecycle/agents/event-stream.ts'
import { applyPlanThrough } from '../../lifecycle/agents/run-on-agent.ts'
import { Session } from '../../lifecycle/agents/session.ts'
import { type FakeWindowsHost, startFakeWindowsHost } from '../../ssh/windows/testing/fake-windows-host.ts'

/**
 * These tests cover the loss of all connections when the first pod network of a Windows host takes over its
 * network adapter. They use a real ssh connection and a real agent; only the host operations are scripted.
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
let host: FakeWindowsHost
let server: AgentServer
let runs: Runs
/** Number of times the plan was applied. A resumed run must not apply it again. */
let applied = 0
const calledPrograms: string[] = []

const never = async (): Promise<never> => Promise.reject(new Error('not here'))
const work: HostOperations = {
  facts: never,
  diff: never,
  previousPlan: never,
  certificates: never,
  certificateRequests: never,
  async apply(_request, emit) {
    applied++
    emit({ type: 'log', lines: ['before the switch'] })
    host.cut()
    emit({ type: 'log', lines: ['while disconnected: ü'] })
    // The adapter is unavailable during this time.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    host.restore()
    emit({ type: 'log', lines: ['after the switch'] })
  },
  stopServices: never,
  restoreEtcdData: never,
  wipeEtcd: never,
  activeRestore: async () => undefined,
  agentInstallation: async () => undefined,
  endRestore: never,
  provisional: async () => undefined,
  beginProvisional: never,
  moveProvisional: never,
  confirmProvisional: never,
  rollback: never,
  reset: never,
  returnHost: never,
  unfinishedMoves: never,
  returnUnfinishedMoves: never,
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  const socket = join(directory, 'agent.sock')
  runs = new Runs('win1', new RunEventLog(join(directory, 'runs')), () => new Date())
  const claims = await OperatorLockStore.open(join(directory, 'claim.json'), () => Date.now())
  const healer = { health: never, pause: never }
  server = await serveAgent(
    { work, runs, claims, peers: createNetworkProbe(), healer, version: '0.1.0' },
    socket,
  )
  host = await startFakeWindowsHost(async ([program, word], { stdin, stdout }) => {
    calledPrograms.push(`${program} ${word}`)
    const respond = (line: string): unknown => stdout.write(toAsciiJson(line))
    await bridgeToAgent({ path: socket, requests: stdin, onResponse: respond, signal })
    return 0
  })
  await mkdir(host.toLocalPath(String.raw`C:\hyperkube\state\agent`), { recursive: true })
  await writeFile(host.toLocalPath(String.raw`C:\hyperkube\state\agent\current`), '0.1.0\n')
})
afterAll(async () => {
  await runs.stop()
  await server.close()
  await host[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

test('an apply whose connection breaks is resumed, and each event is received once', async () => {
  let logins = 0
  const connect = async () => {
    logins++
    return host.connect()
  }
  const session = new Session('win1', await connect(), connect, signal)
  const events: EventBody[] = []
  await session.request({ type: 'claim', claim, force: false }, 'claimed')
  await applyPlanThrough(
    session,
    { plan, claim, secrets: new Map(), certificates: {} },
    'network',
    (what) => void events.push(what),
  )
  const lines = events.flatMap((what) => (what.type === 'log' ? what.lines : []))
  expect(lines).toEqual(['before the switch', 'while disconnected: ü', 'after the switch'])
  expect([applied, logins > 1]).toEqual([1, true])
  expect(new Set(calledPrograms)).toEqual(
    new Set([String.raw`C:\hyperkube\programs\hyperkube-0.1.0\hyperkube.exe agent-call`]),
  )
  await session.close()
})
