import { expect, test } from 'vitest'
import type { HostHealth } from '../../contract/health.ts'
import { formatDiagnosisKey } from '../../lifecycle/doctor/diagnosis.ts'
import type { ClusterHealthObservation, ObserveDeps } from '../../lifecycle/observe/observe-cluster.ts'
import { withFailingProbes, buildHealthyCluster } from '../../lifecycle/observe/testing/cluster-fixtures.ts'
import { createFakeClusterClient } from '../../lifecycle/testing/fake-cluster-client.ts'
import { scriptedSession, successfulRun } from '../../lifecycle/testing/scripted-agent.ts'
import type { Remote } from '../../ssh/remote.ts'
import { examineCluster } from './examine.ts'

const { endpoints } = buildHealthyCluster()

/** Creates deps for hosts whose agents report the given observation and whose units all run. */
function createDeps(observation: ClusterHealthObservation, unreachableHost?: string): ObserveDeps {
  return {
    connect: async (host) => createRemote(host, observation, unreachableHost),
    client: createFakeClusterClient({
      observeEtcd: async () =>
        observation.etcd.state === 'observed'
          ? observation.etcd.observed
          : Promise.reject(new Error('silent')),
      listNodes: async () => observation.nodes ?? [],
    }),
  }
}

function createRemote(
  host: string,
  observation: ClusterHealthObservation,
  unreachableHost: string | undefined,
): Remote {
  const health = findHealth(host, observation)
  const failToOpen = async (): Promise<never> => Promise.reject(new Error('no agent listens'))
  const { remote } = scriptedSession(host, {
    run: successfulRun,
    requests: [],
    respond: ({ type }) => (type === 'health' ? { type: 'health', health } : undefined),
    remote: {
      async exec([, , script = '', , ...units]) {
        const stdout = script.includes('readlink')
          ? ['/opt/hyperkube/hyperkube-0.1.0', formatUnits(units)].join('\n')
          : ''
        return { code: 0, stdout, stderr: '', bytes: Buffer.from(stdout) }
      },
      ...(host === unreachableHost ? { open: failToOpen } : {}),
    },
  })
  if (remote === undefined) throw new Error('a session needs a remote')
  return remote
}

function findHealth(host: string, { hosts }: ClusterHealthObservation): HostHealth {
  const agent = hosts.find(({ endpoint }) => endpoint.host === host)?.agent
  if (agent?.state === 'reachable' && agent.health !== undefined) return agent.health
  throw new Error(`${host} has no health`)
}

function formatUnits(units: readonly string[]): string {
  return units
    .map((unit) => `Id=${unit}\nLoadState=loaded\nActiveState=active\nNRestarts=0\nUnitFileState=enabled\n`)
    .join('\n')
}

const options = { now: () => new Date('2026-11-15T12:00:00Z'), signal: new AbortController().signal }
const listFound = async (deps: ObserveDeps, only?: string): Promise<string[]> => {
  const limit = only === undefined ? {} : { only: new Set([only]) }
  return (await examineCluster(endpoints, deps, { ...options, ...limit })).diagnoses.map(formatDiagnosisKey)
}

test('a cluster with healthy agents has no diagnoses', async () => {
  expect(await listFound(createDeps(buildHealthyCluster()))).toEqual([])
})

test('failing probes and unreachable agents are reported, with --limit for one host only', async () => {
  const observation = withFailingProbes(buildHealthyCluster(), 'w1', ['kubelet', 'HEALTH_NO_RESPONSE'])
  const expected = ['HEALTH_NO_RESPONSE w1/kubelet', 'AGENT_UNREACHABLE w2/hyperkube-agent']
  expect(await listFound(createDeps(observation, 'w2'))).toEqual(expected)
  expect(await listFound(createDeps(observation, 'w2'), 'w2')).toEqual(expected.slice(1))
})
