import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startChildService } from '../kit/child-service.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { findFreePort } from '../kit/free-port.ts'
import { toPrintable } from '../kit/text.ts'
import { KubeClient } from '../kube/client.ts'
import { createCa } from '../pki/ca.ts'
import { makeServiceAccountKey } from '../pki/keys.ts'
import { day } from '../pki/lifetime.ts'
import type { Secret } from '../pki/secret.ts'
import { issueCertificate } from '../pki/sign.ts'

export interface TemporaryApiServerOptions {
  /** Path of kube-apiserver. */
  readonly program: string
  readonly version: string
  /** URL of the temporary etcd. */
  readonly etcd: string
  /** Encryption configuration of the cluster. kube-apiserver needs it to decrypt stored objects. */
  readonly encryption: Secret
  /**
   * Network range of the cluster's services. kube-apiserver reports service addresses outside of this range
   * as errors.
   */
  readonly serviceRange: string
  /** Flags of the cluster that decide which APIs are served, without leading dashes. */
  readonly args: Readonly<Record<string, string>>
  /** A private directory. The caller removes it. */
  readonly directory: string
  readonly now: Date
  readonly signal: AbortSignal
}

/** A kube-apiserver without a cluster: there are no controllers or nodes, and webhooks are unreachable. */
export interface TemporaryApiServer extends AsyncDisposable {
  readonly client: KubeClient
}

/** Timeout of the start. It is long, because a large database takes long to load into the watch caches. */
const startTimeoutMs = 600_000

export async function startTemporaryApiServer(
  options: TemporaryApiServerOptions,
): Promise<TemporaryApiServer> {
  const { program, version, directory, signal } = options
  const port = await findFreePort()
  const { flags, credentials } = await writeConfiguration(options, port)
  await using open = new AsyncDisposableStack()
  const client = open.use(
    new KubeClient({
      servers: [`https://127.0.0.1:${port}`],
      ca: credentials.ca,
      credentials,
      signal,
      timing: { responseMs: 120_000, timeout: 300_000 },
    }),
  )
  open.use(
    await startChildService({
      what: `kube-apiserver ${version} of the rehearsal to be ready`,
      argv: [program, ...flags],
      cwd: directory,
      isReady: async (pollSignal) => isReady(client, pollSignal),
      startTimeoutMs,
      toStartError: (output) =>
        new HyperkubeError(
          'REHEARSAL_API_NOT_STARTED',
          `kube-apiserver ${version} ended on a copy of the cluster's data: ${toPrintable(findError(output))}`,
          {
            component: 'kube-apiserver',
            hint: 'an upgrade would fail in the same way; correct spec.components.apiServer.args, then rehearse again',
          },
        ),
      signal,
    }),
  )
  const owned = open.move()
  return { client, [Symbol.asyncDispose]: async () => owned.disposeAsync() }
}

async function isReady(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const response = client.text({ method: 'GET', path: '/readyz', once: true, timeout: 5000, signal })
  return response.then(
    (text) => text === 'ok',
    () => false,
  )
}

/** Returns the error line of the output, or its last line. */
function findError(output: string): string {
  const lines = output.trim().split('\n')
  return lines.findLast((line) => /^(E\d{4}|Error:)/.test(line)) ?? lines.at(-1) ?? 'no output'
}

interface Configuration {
  readonly flags: readonly string[]
  readonly credentials: { readonly ca: string; readonly certificate: string; readonly privateKey: string }
}

/** Writes the files of the API server. Their keys are new and are valid for this rehearsal only. */
async function writeConfiguration(
  { etcd, encryption, serviceRange, args, directory, now }: TemporaryApiServerOptions,
  port: number,
): Promise<Configuration> {
  const ca = await createCa('kubernetes', day, now)
  const issue = async (commonName: string, usage: 'server' | 'client') => {
    const subject = { commonName, organizations: usage === 'client' ? ['system:masters'] : [] }
    const names = { dns: [], ip: usage === 'server' ? ['127.0.0.1'] : [] }
    const spec = { subject, names, usages: [usage], lifetime: day }
    const { certificate, privateKey } = await issueCertificate(ca, `${commonName} key`, spec, now)
    return { certificate, privateKey: privateKey.revealText() }
  }
  const [server, client, serviceAccount] = await Promise.all([
    issue('kube-apiserver', 'server'),
    issue('rehearsal', 'client'),
    makeServiceAccountKey(),
  ])
  const path = (name: string): string => join(directory, name)
  const files: Readonly<Record<string, string>> = {
    'ca.crt': ca.certificate,
    'server.crt': server.certificate,
    'server.key': server.privateKey,
    'service-account.pub': serviceAccount.publicKey,
    'service-account.key': serviceAccount.privateKey.revealText(),
    'encryption.yaml': encryption.revealText(),
    'egress.yaml': JSON.stringify(buildEgressConfiguration(path('no-egress'))),
  }
  for (const [name, content] of Object.entries(files)) await writeFile(path(name), content, { mode: 0o600 })
  const flags = {
    ...args,
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(port),
    'client-ca-file': path('ca.crt'),
    'tls-cert-file': path('server.crt'),
    'tls-private-key-file': path('server.key'),
    'authorization-mode': 'RBAC',
    'encryption-provider-config': path('encryption.yaml'),
    'egress-selector-config-file': path('egress.yaml'),
    'service-account-issuer': 'https://rehearsal.invalid',
    'service-account-key-file': path('service-account.pub'),
    'service-account-signing-key-file': path('service-account.key'),
    'service-cluster-ip-range': serviceRange,
    // The reconciler is off, because it would replace the cluster's API server addresses in the copied data.
    'endpoint-reconciler-type': 'none',
  }
  return {
    flags: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    credentials: { ca: ca.certificate, ...client },
  }
}

/**
 * Sends every connection to nodes, webhooks and aggregated API servers to a socket that does not exist. etcd
 * has no entry: it listens on a Unix socket, and a dialer for etcd would not accept its path.
 */
function buildEgressConfiguration(missingSocket: string): object {
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: missingSocket } } }
  return {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: ['cluster', 'controlplane'].map((name) => ({ name, connection })),
  }
}
