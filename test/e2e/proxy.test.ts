import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'
import { ApiLoad } from '../support/api-load.ts'
import { apiServers, type ApiServers } from '../support/api-servers.ts'
import { credentialsIn } from '../support/kubeconfig.ts'
import { freshLab } from '../support/lab.ts'
import { more, outage, ProxiedApi, signal } from '../support/proxied-api.ts'

/** Enough to see what clients see. test/full has four times as many, and more that can go wrong. */
const perSecond = 50

let lab: Lab
let cluster: ApiServers
let proxied: ProxiedApi

beforeAll(async () => {
  lab = await freshLab('proxy-ci')
  cluster = await apiServers(lab, '3+1', '1.37.1')
  await ApiLoad.prepare(cluster.api)
  const [worker] = cluster.workers
  if (worker === undefined) throw new Error('there is no worker')
  proxied = new ProxiedApi(worker, cluster.controlPlanes, cluster.admin)
  await proxied.start()
})
afterAll(async () => {
  try {
    await cluster.close()
  } finally {
    await lab.down()
  }
})

function server(index: number): Host {
  const host = cluster.controlPlanes[index]
  if (host === undefined) throw new Error(`there is no server ${index}`)
  return host
}

describe('through apiserver-proxy no request is lost, and none waits for long,', () => {
  test('when an API server is killed', async () => {
    const seen = await proxied.under('SIGKILL', perSecond, server(0), async () => {
      await signal(server(0), 'KILL')
      await proxied.health(server(0), 'unwell')
    })
    expect(outage(seen)).toEqual([])
  })

  test('when an API server hangs', async () => {
    const seen = await proxied.under('SIGSTOP', perSecond, server(1), async (load) => {
      await signal(server(1), 'STOP')
      try {
        await proxied.health(server(1), 'unwell')
        await more(load, 2 * perSecond)
      } finally {
        await signal(server(1), 'CONT')
      }
    })
    expect(outage(seen)).toEqual([])
  })

  test('when an API server is restarted as it should be', async () => {
    const seen = await proxied.under('restart', perSecond, server(2), async () => {
      await server(2).exec(['systemctl', 'restart', 'kube-apiserver'])
    })
    expect(outage(seen)).toEqual([])
  })
})

describe('hyperkube proxy', () => {
  const program = [join(import.meta.dirname, '../../src/main.ts')]
  let child: ChildProcess
  let said = ''
  /** As kubectl does it: over a connection of its own. */
  let get: (path: string) => Promise<string>

  beforeAll(async () => {
    const [file, env] = [join(cluster.directory, 'cluster.yml'), { XDG_CONFIG_HOME: cluster.directory }]
    const words = ['proxy', '--listen', '127.0.0.1:0', '-f', file]
    child = spawn(process.execPath, [...program, ...words], { env, stdio: ['ignore', 'inherit', 'pipe'] })
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
    const url = await until('its first words', async () => /https:\S+(?= is the API)/.exec(said)?.[0], {
      within: 20_000,
    })
    const config = [...program, 'kubeconfig', '--break-glass', '--server', url, '-f', file]
    const { stdout } = await run([process.execPath, ...config], { env })
    get = async (path) => {
      const api = new KubeApi(url, credentialsIn(stdout))
      return api.text(path).finally(() => api.close())
    }
  })
  afterAll(() => child.kill('SIGKILL'))

  /** What it said last of a server. */
  async function heard(host: Host, health: string): Promise<void> {
    const last = async (): Promise<boolean> =>
      said
        .split('\n')
        .findLast((line) => line.startsWith(`${host.name} at `))
        ?.includes(` is ${health} `) ?? false
    await until(`${host.name} to be ${health}`, last, { within: 30_000 })
  }

  test('serves the API, and says which control planes are well', async () => {
    for (const host of cluster.controlPlanes) await heard(host, 'well')
    expect(await get('/version')).toContain('"gitVersion": "v1.37.1"')
  })

  test('serves it whichever control plane is down', async () => {
    for (const host of cluster.controlPlanes) {
      await signal(host, 'STOP')
      try {
        for (let time = 0; time < 3; time++) expect(await get('/readyz')).toBe('ok')
        await heard(host, 'unwell')
        expect(await get('/api/v1/namespaces/default')).toContain('"Namespace"')
      } finally {
        await signal(host, 'CONT')
      }
      await heard(host, 'well')
    }
  })

  test('ends when it is interrupted', async () => {
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
  })
})
