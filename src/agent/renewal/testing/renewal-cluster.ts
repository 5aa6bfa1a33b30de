import { join } from 'node:path'
import { agentDirectory, authorityFiles } from '../../../contract/ca-files.ts'
import type { ComponentPlan, PlannedCertificate } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Wish } from '../../../contract/certificate-spec.ts'
import { componentOf } from '../../../diff/testing/fixtures.ts'
import {
  type Asked,
  type TestAnswer,
  type TestServer,
  testServer,
} from '../../../kit/testing/https-test-server.ts'
import { type Authority, authorityNames, makeAuthority } from '../../../pki/ca.ts'
import { day, year } from '../../../pki/lifetime.ts'
import { makeRequest } from '../../../pki/request.ts'
import { signRequest } from '../../../pki/sign.ts'
import { certificateRequests } from '../../apply/certificate-requests.ts'
import { applied, hostPlan } from '../../apply/testing/fixtures.ts'
import { inMemory } from '../../facts/testing/fake-fact-source.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { ClaimStore } from '../../operator-lock/operator-lock-store.ts'
import { linuxWork } from '../../host-operations/linux-operations.ts'
import { RunLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import type { RenewalScene } from '../renew-local.ts'
import { usualRhythm } from '../intervals.ts'
import { TestSigningApi } from './fake-signing-api.ts'

/** The API's TLS goes by the clock of this machine; hosts were set up before, so that all is due now. */
export const setUp = 250 * day

/** `signer`: no more than keys of authorities, and one certificate. */
export type AgentKind = 'control-plane' | 'worker' | 'etcd' | 'signer'

export interface TestAgent {
  readonly host: TemporaryHost
  readonly plan: NodePlan
  readonly scene: RenewalScene & { readonly random: () => number; readonly claims: ClaimStore }
  readonly said: string[]
  /** What is in a file now. */
  readonly read: (path: string) => Promise<string>
  readonly wishes: readonly PlannedCertificate[]
}

/** For tests: hosts of one cluster, each with an agent, and an API between them. */
export class TestCluster implements AsyncDisposable {
  readonly api: TestSigningApi
  readonly #stack = new AsyncDisposableStack()
  readonly #authorities: ReadonlyMap<string, Authority>
  readonly #server: TestServer

  private constructor(authorities: ReadonlyMap<string, Authority>, server: TestServer, api: TestSigningApi) {
    this.#authorities = authorities
    this.#server = this.#stack.use(server)
    this.api = api
  }

  /** Where something else is asked of the API than signatures, its answers are given. */
  static async make(answer?: (asked: Asked) => TestAnswer): Promise<TestCluster> {
    const api = new TestSigningApi()
    const long = new Date(Date.now() - setUp - day)
    const authorities = await Promise.all(
      authorityNames.map(async (name) => makeAuthority(name, 400 * year, long)),
    )
    const all = new Map<string, Authority>(authorities.map((one) => [one.name, one]))
    const names = { dns: [], ip: ['127.0.0.1'] }
    const pair = await issue(authorityIn(all, 'kubernetes'), {
      subject: { commonName: 'kube-apiserver', organizations: [] },
      names,
      usages: ['server'],
      lifetime: year,
    })
    const { certificate } = authorityIn(all, 'kubernetes')
    const trust = { certificate, server: pair, client: pair, otherClient: pair }
    return new TestCluster(all, await testServer(trust, answer ?? api.answer), api)
  }

  authority(name: string): Authority {
    return authorityIn(this.#authorities, name)
  }

  /** A host that was set up long ago, and has not been looked after since. */
  async agent(name: string, kind: AgentKind): Promise<TestAgent> {
    const host = this.#stack.use(await temporaryHost())
    host.clock.time = Date.now() - setUp
    const plan = this.#planFor(name, kind)
    const requests = await certificateRequests(host, plan)
    const wishes = plan.components.flatMap(({ certificates }) => certificates)
    const certificates = await Promise.all(
      wishes.map(async (wish) => {
        const { subject, names, usages, lifetime } = wish
        const request = requests[wish.certificateFile] ?? ''
        const by = this.authority(wish.authority)
        const certificate = await signRequest(
          by,
          request,
          { subject, names, usages, lifetime },
          host.clock.now(),
        )
        return [wish.certificateFile, certificate] as const
      }),
    )
    const keys = authorityNames.map((one) => [one, this.authority(one).privateKey.revealText()])
    await applied(host, plan, { certificates: new Map(certificates), secrets: Object.fromEntries(keys) })
    host.clock.time = Date.now()
    const state = host.place(host.layout.state)
    const runs = new Runs(name, new RunLog(join(state, 'runs')), () => host.clock.now())
    this.#stack.defer(async () => runs.stop())
    const said: string[] = []
    const scene = {
      host,
      work: linuxWork(host, inMemory({})),
      runs,
      claims: await ClaimStore.open(join(state, 'claim.json'), () => host.clock.time),
      rhythm: usualRhythm,
      random: () => 0,
      say: (text: string) => void said.push(text),
      signal: new AbortController().signal,
    }
    const read = async (path: string): Promise<string> =>
      (await host.files.read(path))?.toString('utf8') ?? ''
    return { host, plan, scene, said, read, wishes }
  }

  #planFor(name: string, kind: AgentKind): NodePlan {
    const etcd = this.#component('etcd', 'etcd', { subject: { commonName: name, organizations: [] } })
    const node = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
    const kubelet = this.#component('kubelet', 'kubernetes', { subject: node })
    const proxy = this.#component('apiserver-proxy', 'kubernetes', {
      subject: {
        commonName: `hyperkube:apiserver-proxy:${name}`,
        organizations: ['hyperkube:apiserver-proxies'],
      },
    })
    const config = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'ApiserverProxyConfiguration',
      listen: this.#server.url.replace('https://', ''),
      health: '127.0.0.1:6445',
      servers: ['127.0.0.1:6443'],
      authority: '/a',
      credentials: { certificate: '/b', privateKey: '/c' },
      memory: '/d',
    }
    const proxyConfig = textFile('/etc/hyperkube/apiserver-proxy/config.json', JSON.stringify(config))
    const nodeParts = [kubelet, { ...proxy, files: [...proxy.files, proxyConfig] }]
    const keys = this.#keysOf()
    const parts = {
      'control-plane': [keys, etcd, ...nodeParts],
      worker: nodeParts,
      etcd: [etcd],
      signer: [keys, etcd],
    }
    return hostPlan(...parts[kind])
  }

  #keysOf(): ComponentPlan {
    return componentOf({
      name: 'hyperkube-agent',
      directories: [{ path: agentDirectory, owner: 'root', mode: '0700' }],
      files: authorityNames.flatMap((name) => {
        const { certificates, privateKey } = authorityFiles(name)
        const content = { kind: 'secret', secret: name, tag: name } as const
        return [
          textFile(certificates, this.authority(name).certificate),
          { path: privateKey, owner: 'root', mode: '0600', content, restart: false },
        ]
      }),
    })
  }

  #component(name: string, authority: 'kubernetes' | 'etcd', wish: Pick<Wish, 'subject'>): ComponentPlan {
    const directory = `/etc/hyperkube/${name}`
    return componentOf({
      name,
      directories: [{ path: directory, owner: 'root', mode: '0700' }],
      files: [textFile(`${directory}/ca.crt`, this.authority(authority).certificate)],
      certificates: [
        {
          authority,
          ...wish,
          names: { dns: [], ip: [] },
          usages: ['client'],
          lifetime: year,
          owner: 'root',
          certificateFile: `${directory}/client.crt`,
          keyFile: `${directory}/client.key`,
        },
      ],
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

function authorityIn(all: ReadonlyMap<string, Authority>, name: string): Authority {
  const authority = all.get(name)
  if (authority === undefined) throw new Error(`there is no authority ${name}`)
  return authority
}

async function issue(authority: Authority, wish: Wish) {
  const { request, privateKey } = await makeRequest('test', wish.subject, wish.names)
  const certificate = await signRequest(authority, request, wish, new Date())
  return { certificate, privateKey: privateKey.revealText() }
}

function textFile(path: string, text: string): ComponentPlan['files'][number] {
  return { path, owner: 'root', mode: '0644', content: { kind: 'text', text }, restart: false }
}
