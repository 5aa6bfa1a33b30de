import { expect, test } from 'vitest'
import type { HostHealth } from '../../contract/health.ts'
import { keyOf } from '../../lifecycle/doctor/diagnosis.ts'
import type { Look, Sights } from '../../lifecycle/observe/observe-cluster.ts'
import { failing, healthyLook } from '../../lifecycle/observe/testing/cluster-fixtures.ts'
import { scriptedSession, works } from '../../lifecycle/testing/scripted-agent.ts'
import type { Remote } from '../../ssh/remote.ts'
import { examine } from './examine.ts'

const { places } = healthyLook()

/** Hosts whose agents say what was seen of them, and whose units all run. */
function sightsOf(look: Look, silent?: string): Sights {
  return {
    connect: async (host) => remoteOf(host, look, silent),
    etcd: async () => (look.etcd.state === 'seen' ? look.etcd.observed : Promise.reject(new Error('silent'))),
    apiReady: async () => undefined,
    nodes: async () => look.nodes ?? [],
  }
}

function remoteOf(host: string, look: Look, silent: string | undefined): Remote {
  const health = healthOf(host, look)
  const gone = async (): Promise<never> => Promise.reject(new Error('no agent listens'))
  const { remote } = scriptedSession(host, {
    run: works,
    asked: [],
    answer: ({ type }) => (type === 'health' ? { type: 'health', health } : undefined),
    remote: {
      async exec([, , script = '', , ...units]) {
        const stdout = script.includes('readlink')
          ? ['/opt/hyperkube/hyperkube-0.1.0', blocks(units)].join('\n')
          : ''
        return { code: 0, stdout, stderr: '', bytes: Buffer.from(stdout) }
      },
      ...(host === silent ? { open: gone } : {}),
    },
  })
  if (remote === undefined) throw new Error('a session begins with a way')
  return remote
}

function healthOf(host: string, { hosts }: Look): HostHealth {
  const agent = hosts.find(({ place }) => place.host === host)?.agent
  if (agent?.state === 'answers' && agent.health !== undefined) return agent.health
  throw new Error(`${host} says nothing`)
}

function blocks(units: readonly string[]): string {
  return units
    .map((unit) => `Id=${unit}\nLoadState=loaded\nActiveState=active\nNRestarts=0\nUnitFileState=enabled\n`)
    .join('\n')
}

const options = { now: () => new Date('2026-11-15T12:00:00Z'), signal: new AbortController().signal }
const found = async (sights: Sights, only?: string): Promise<string[]> => {
  const limit = only === undefined ? {} : { only: new Set([only]) }
  return (await examine(places, sights, { ...options, ...limit })).diagnoses.map(keyOf)
}

test('agents that have nothing to complain of leave nothing to say', async () => {
  expect(await found(sightsOf(healthyLook()))).toEqual([])
})

test('what an agent sees, and an agent that does not answer, are told; of one host alone where that is asked', async () => {
  const look = failing(healthyLook(), 'w1', ['kubelet', 'HEALTH_NO_ANSWER'])
  const expected = ['HEALTH_NO_ANSWER w1/kubelet', 'AGENT_SILENT w2/hyperkube-agent']
  expect(await found(sightsOf(look, 'w2'))).toEqual(expected)
  expect(await found(sightsOf(look, 'w2'), 'w2')).toEqual(expected.slice(1))
})
