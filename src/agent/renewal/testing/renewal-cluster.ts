import { join } from 'node:path'
import type { CertificateSpec } from '../../../contract/certificate-spec.ts'
import type { ComponentPlan, PlannedCertificate } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { agentDirectory, locateCaFiles } from '../../../contract/renewal.ts'
import { buildComponent } from '../../../diff/testing/fixtures.ts'
import {
  type HttpsTestServer,
  type ReceivedRequest,
  startHttpsTestServer,
  type TestResponse,
} from '../../../kit/testing/https-test-server.ts'
import { type Ca, caNames, createCa } from '../../../pki/ca.ts'
import { day, year } from '../../../pki/lifetime.ts'
import { makeRequest } from '../../../pki/request.ts'
import { signRequest } from '../../../pki/sign.ts'
import { createCertificateRequests } from '../../apply/certificate-requests.ts'
import { applyAndListOps, buildPlanWithHost } from '../../apply/testing/fixtures.ts'
import { createFakeFactSource } from '../../facts/testing/fake-fact-source.ts'
import { createTemporaryHost, type TemporaryHost } from '../../host/testing/temporary-host.ts'
import { OperatorLockStore } from '../../operator-lock/operator-lock-store.ts'
import { createLinuxOperations } from '../../platform/host-operations.ts'
import { RunEventLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import { defaultRenewalIntervals } from '../intervals.ts'
import type { RenewalDeps } from '../renew-local.ts'
import { SigningQuota } from '../signing-quota.ts'
import { SigningRequests } from './signing-requests.ts'

/**
 * Milliseconds from the setup of the hosts until now, long enough that all certificates are due. TLS
 * connections to the fake API server use the real clock, so the setup must be in the past.
 */
export const setUpAgeMs = 250 * day

/** `signer` is a host with only the CA keys and one certificate. */
export type AgentKind = 'control-plane' | 'worker' | 'etcd' | 'signer'

export interface RenewalTestAgent {
  readonly host: TemporaryHost
  readonly plan: NodePlan
  readonly deps: RenewalDeps & {
    readonly random: () => number
    readonly claims: OperatorLockStore
    readonly quota: SigningQuota
  }
  readonly logged: string[]
  /** Returns the current content of a file. */
  readonly read: (path: string) => Promise<string>
  readonly planned: readonly PlannedCertificate[]
}

/** For tests: hosts of one cluster, each with an agent, and a shared API. */
export class RenewalTestCluster implements AsyncDisposable {
  readonly signing: SigningRequests
  readonly #stack = new AsyncDisposableStack()
  readonly #cas: ReadonlyMap<string, Ca>
  readonly #server: HttpsTestServer

  private constructor(cas: ReadonlyMap<string, Ca>, server: HttpsTestServer, signing: SigningRequests) {
    this.#cas = cas
    this.#server = this.#stack.use(server)
    this.signing = signing
  }

  /** `respond` replaces the fake signing API in tests that need other responses. */
  static async create(respond?: (request: ReceivedRequest) => TestResponse): Promise<RenewalTestCluster> {
    const signing = new SigningRequests()
    const createdAt = new Date(Date.now() - setUpAgeMs - day)
    const cas = await Promise.all(caNames.map(async (name) => createCa(name, 400 * year, createdAt)))
    const casByName = new Map<string, Ca>(cas.map((one) => [one.name, one]))
    const names = { dns: [], ip: ['127.0.0.1'] }
    const pair = await issue(findCa(casByName, 'kubernetes'), {
      subject: { commonName: 'kube-apiserver', organizations: [] },
      names,
      usages: ['server'],
      lifetime: year,
    })
    const { certificate } = findCa(casByName, 'kubernetes')
    const trust = { certificate, server: pair, client: pair, otherClient: pair }
    return new RenewalTestCluster(
      casByName,
      await startHttpsTestServer(trust, respond ?? signing.api.respond),
      signing,
    )
  }

  ca(name: string): Ca {
    return findCa(this.#cas, name)
  }

  /** Creates a host that was set up long ago and whose certificates were not checked since. */
  async createAgent(name: string, kind: AgentKind): Promise<RenewalTestAgent> {
    const host = this.#stack.use(await createTemporaryHost())
    host.clock.time = Date.now() - setUpAgeMs
    const plan = this.#buildPlan(name, kind)
    const requests = await createCertificateRequests(host, plan)
    const planned = plan.components.flatMap(({ certificates }) => certificates)
    const certificates = await Promise.all(
      planned.map(async (spec) => {
        const { subject, names, usages, lifetime } = spec
        const request = requests[spec.certificateFile] ?? ''
        const issuer = this.ca(spec.ca)
        const certificate = await signRequest(
          issuer,
          request,
          { subject, names, usages, lifetime },
          host.clock.now(),
        )
        return [spec.certificateFile, certificate] as const
      }),
    )
    const keys = caNames.map((one) => [one, this.ca(one).privateKey.revealText()])
    await applyAndListOps(host, plan, {
      certificates: new Map(certificates),
      secrets: Object.fromEntries(keys),
    })
    host.clock.time = Date.now()
    if (kind === 'worker') this.signing.putHost(name, planned)
    const state = host.toLocalPath(host.layout.state)
    const runs = new Runs(name, new RunEventLog(join(state, 'runs')), () => host.clock.now())
    this.#stack.defer(async () => runs.stop())
    const logged: string[] = []
    const deps = {
      host,
      work: createLinuxOperations(host, createFakeFactSource({})),
      runs,
      claims: await OperatorLockStore.open(join(state, 'claim.json'), () => host.clock.time),
      intervals: defaultRenewalIntervals,
      random: () => 0,
      quota: new SigningQuota(),
      log: (text: string) => void logged.push(text),
      signal: new AbortController().signal,
    }
    const read = async (path: string): Promise<string> =>
      (await host.files.read(path))?.toString('utf8') ?? ''
    return { host, plan, deps, logged, read, planned }
  }

  #buildPlan(name: string, kind: AgentKind): NodePlan {
    const etcd = this.#buildComponent('etcd', 'etcd', { subject: { commonName: name, organizations: [] } })
    const node = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
    const kubelet = this.#buildComponent('kubelet', 'kubernetes', { subject: node })
    const proxy = this.#buildComponent('apiserver-proxy', 'kubernetes', {
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
      caFile: '/a',
      credentials: { certificate: '/b', privateKey: '/c' },
      stateFile: '/d',
    }
    const proxyConfig = textFile('/etc/hyperkube/apiserver-proxy/config.json', JSON.stringify(config))
    const nodeParts = [kubelet, { ...proxy, files: [...proxy.files, proxyConfig] }]
    const keys = this.#buildKeys()
    const componentsByKind = {
      'control-plane': [keys, etcd, ...nodeParts],
      worker: nodeParts,
      etcd: [etcd],
      signer: [keys, etcd],
    }
    return buildPlanWithHost(...componentsByKind[kind])
  }

  #buildKeys(): ComponentPlan {
    return buildComponent({
      name: 'hyperkube-agent',
      directories: [{ path: agentDirectory, owner: 'root', mode: '0700' }],
      files: caNames.flatMap((name) => {
        const { certificates, privateKey } = locateCaFiles(name)
        const content = { kind: 'secret', secret: name, tag: name } as const
        return [
          textFile(certificates, this.ca(name).certificate),
          { path: privateKey, owner: 'root', mode: '0600', content, restart: false },
        ]
      }),
    })
  }

  #buildComponent(
    name: string,
    ca: 'kubernetes' | 'etcd',
    spec: Pick<CertificateSpec, 'subject'>,
  ): ComponentPlan {
    const directory = `/etc/hyperkube/${name}`
    return buildComponent({
      name,
      directories: [{ path: directory, owner: 'root', mode: '0700' }],
      files: [textFile(`${directory}/ca.crt`, this.ca(ca).certificate)],
      certificates: [
        {
          ca,
          ...spec,
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

function findCa(casByName: ReadonlyMap<string, Ca>, name: string): Ca {
  const ca = casByName.get(name)
  if (ca === undefined) throw new Error(`there is no authority ${name}`)
  return ca
}

async function issue(ca: Ca, spec: CertificateSpec) {
  const { request, privateKey } = await makeRequest('test', spec.subject, spec.names)
  const certificate = await signRequest(ca, request, spec, new Date())
  return { certificate, privateKey: privateKey.revealText() }
}

function textFile(path: string, text: string): ComponentPlan['files'][number] {
  return { path, owner: 'root', mode: '0644', content: { kind: 'text', text }, restart: false }
}
