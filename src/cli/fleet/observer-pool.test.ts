import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { CommandContext, HelperProcess, StartHelper } from '../command/command.ts'
import { serveObservations } from '../commands/fleet-observer.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { showFleetStatus } from './fleet-status.ts'
import { type ObserveResponse, observeResponse } from './observer-protocol.ts'

const count = 60
const fleetFile = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
spec: { clusters: [clusters/*/cluster.yml] }
`

/** No cluster has an identity, so none is observed over ssh. The problem of each names its own file. */
function buildFiles(broken?: number): Record<string, string> {
  const clusters = Array.from({ length: count }, (_, index) => [
    `clusters/c${index}/cluster.yml`,
    `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: c${index}, fleet: ../../fleet.yml, labels: { number: "${index}" } }
spec:
  kubernetes: 1.37.1
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }]
${index === broken ? 'nothing: 1\n' : ''}`,
  ])
  return { 'fleet.yml': fleetFile, ...Object.fromEntries(clusters) }
}

interface StartedHelper extends HelperProcess {
  /** Names of the files of all requests. */
  readonly requests: () => readonly string[]
  readonly responses: () => readonly ObserveResponse[]
  readonly killed: () => boolean
}

/** A process of this program with its streams, in this process. */
function createHelpers(context: CommandContext): {
  readonly started: StartedHelper[]
  readonly startHelper: StartHelper
} {
  const started: StartedHelper[] = []
  return {
    started,
    startHelper(args) {
      expect(args).toEqual(['fleet-observer'])
      const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
      let [text, written] = ['', '']
      let isKilled = false
      stdin.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
      stdout.on('data', (chunk: Buffer) => (written += chunk.toString('utf8')))
      serveObservations({ ...context, stdout }, stdin).catch(() => stdout.destroy())
      const helper: StartedHelper = {
        ...{ stdin, stdout, stderr },
        kill() {
          isKilled = true
          for (const stream of [stdin, stdout, stderr]) stream.destroy()
        },
        requests: () => [...text.matchAll(/"file":"([^"]+)"/g)].map(([, file = '']) => file),
        responses: () =>
          written
            .trim()
            .split('\n')
            .map((line) => observeResponse.parse(JSON.parse(line))),
        killed: () => isKilled,
      }
      started.push(helper)
      return helper
    },
  }
}

async function runStatus(
  processors: number,
  broken?: number,
  change: (helper: HelperProcess) => HelperProcess = (helper) => helper,
): Promise<{ readonly stdout: string; readonly started: readonly StartedHelper[] }> {
  const { context, collectResult } = createInMemoryContext(buildFiles(broken))
  const { started, startHelper } = createHelpers(context)
  const own = { ...context, processors, startHelper: (args: readonly string[]) => change(startHelper(args)) }
  const code = await showFleetStatus(own, { file: 'fleet.yml', output: 'json', input: false })
  return { stdout: collectResult(code).stdout, started }
}

test('several processes report the same as one, and all of them end', async () => {
  const { stdout } = await runStatus(1)
  const { stdout: shared, started } = await runStatus(8)
  expect(shared).toBe(stdout)
  expect(JSON.parse(shared).items).toHaveLength(count)
  // A process for each 25 clusters, one of which is this one.
  expect(started).toHaveLength(2)
  for (const helper of started) {
    expect(helper.requests().length).toBeGreaterThan(0)
    expect(helper.killed()).toBe(true)
  }
})

test('a machine with one processor starts no process', async () => {
  expect((await runStatus(1)).started).toEqual([])
})

test('a cluster.yml with errors is reported by the first process', async () => {
  const { stdout, started } = await runStatus(4, 7)
  expect(stdout).toBe((await runStatus(1, 7)).stdout)
  expect(stdout).toContain('SPEC_UNKNOWN_KEY')
  expect(started.flatMap((helper) => helper.requests())).not.toContain('clusters/c7/cluster.yml')
})

test.each<[string, (file: string) => Promise<string>, string]>([
  [
    'read',
    async () => Promise.reject(Object.assign(new Error('permission denied'), { code: 'EACCES' })),
    'cannot be read: permission denied',
  ],
  ['use', async () => 'kind: Cluster', 'was changed and has errors now'],
])('a cluster.yml that a process cannot %s is observed by this one', async (_case, readFile, error) => {
  const { context, collectResult } = createInMemoryContext(buildFiles())
  const { started, startHelper } = createHelpers({
    ...context,
    readFile: async (file) =>
      /c\d*[05]\/cluster\.yml$/.test(file) ? readFile(file) : context.readFile(file),
  })
  const own = { ...context, processors: 2, startHelper }
  const code = await showFleetStatus(own, { file: 'fleet.yml', output: 'json', input: false })
  expect(collectResult(code).stdout).toBe((await runStatus(1)).stdout)

  // The process has responded to all its requests, so it did not end.
  const responses = started.flatMap((helper) => helper.responses())
  const requests = started.flatMap((helper) => helper.requests())
  expect(responses.map(({ file }) => file).toSorted()).toEqual(requests.toSorted())
  const failed = responses.filter((response) => 'error' in response)
  expect(failed.length).toBeGreaterThan(1)
  expect(failed.length).toBeLessThan(responses.length)
  for (const response of failed) expect(response.error).toBe(`${response.file} ${error}`)
})

test('a line that is not a request ends the process after the responses to earlier ones', async () => {
  const { context, collectResult } = createInMemoryContext(buildFiles())
  const request = JSON.stringify({ file: 'clusters/c1/cluster.yml', timeoutMs: 1000 })
  const stdin = new PassThrough().end(`${request}\n{}\n`)
  await expect(serveObservations(context, stdin)).rejects.toThrow('timeoutMs')
  expect(collectResult(0).stdout).toContain('"file":"clusters/c1/cluster.yml","health":"unknown"')
})

test.each<[string, (helper: HelperProcess) => HelperProcess]>([
  [
    'ends at once',
    (helper) => {
      helper.stdout.push(null)
      return helper
    },
  ],
  [
    'ends after some responses',
    (helper) => {
      let chunks = 0
      const stdout = new PassThrough()
      helper.stdout.on('data', (chunk: Buffer) => (++chunks > 3 ? stdout.end() : stdout.write(chunk)))
      return { ...helper, stdout }
    },
  ],
  [
    'writes something else',
    (helper) => {
      const stdout = new PassThrough()
      stdout.write('Killed\n')
      return { ...helper, stdout }
    },
  ],
])('if a process %s, this one observes its clusters', async (_case, change) => {
  const { stdout, started } = await runStatus(2, undefined, change)
  expect(stdout).toBe((await runStatus(1)).stdout)
  expect(started).toHaveLength(1)
})

test('an interrupt ends the processes and the command', async () => {
  const stop = new AbortController()
  const { context } = createInMemoryContext(buildFiles(), { signal: stop.signal })
  const killed = Promise.withResolvers<void>()
  const silent: StartHelper = () => {
    const stdout = new PassThrough()
    const stdin = new PassThrough().on('data', () => stop.abort())
    return {
      ...{ stdin, stdout, stderr: new PassThrough() },
      kill() {
        stdout.destroy()
        killed.resolve()
      },
    }
  }
  const own = { ...context, processors: 2, startHelper: silent }
  await expect(showFleetStatus(own, { file: 'fleet.yml', output: 'json', input: false })).rejects.toThrow(
    /abort/i,
  )
  await killed.promise
})
