import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchScript, imageFetch } from '../../lab/cluster/artifacts.ts'
import { importImages } from '../../lab/cluster/import-images.ts'
import { type Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import { machineArch } from '../../lab/components/build.ts'
import { kubernetesVersions } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { stripDigest } from '../../src/contract/image-reference.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import {
  renderDerivedFiles,
  selectUpstreamComponents,
  listUpstreamServices,
  installPlan,
} from '../support/install-plan.ts'
import { ensureNodeUserRbac } from '../support/node-user-rbac.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'
import { planCluster } from '../support/planned-cluster.ts'

const versions = kubernetesVersions.map((version) => version.slice(1))

describe.each(versions)('the plan for Kubernetes %s', (kubernetes) => {
  let lab: Lab
  let mirror: Mirror
  let host: Host
  let plan: NodePlan
  let identity: Identity
  let admin: Credentials

  beforeAll(async () => {
    lab = await openFreshLab('plan')
    mirror = await openLabMirror(lab)
    host = await startOneHost(lab, 'cp1')
    const planned = await planCluster(kubernetes, mirror.address, [
      { host, roles: ['control-plane', 'worker'] },
    ])
    const [only] = planned.plans
    if (only === undefined) throw new Error('nothing was planned')
    plan = only
    identity = planned.identity
    admin = await issueClientCertificate(identity, 'kubernetes', 'test', ['system:masters'])
    await installPlan(host, plan, identity)
  })
  afterAll(async () => {
    try {
      await mirror.close()
    } finally {
      await lab.down()
    }
  })

  test('has units that systemd accepts without warnings', async () => {
    const units = listUpstreamServices(plan).map((name) => `/etc/systemd/system/${name}`)
    expect(await host.exec(['systemd-analyze', 'verify', ...units])).toMatchObject({ stdout: '', stderr: '' })
  })

  test('has certificates that OpenSSL verifies with their own CA', async () => {
    for (const { certificates } of selectUpstreamComponents(plan)) {
      for (const { certificateFile, ca } of certificates) {
        const file = `/etc/hyperkube/agent/${ca}-ca.crt`
        const { stdout } = await host.script(`openssl verify -x509_strict -CAfile ${file} ${certificateFile}`)
        expect(stdout).toBe(`${certificateFile}: OK\n`)
      }
    }
  })

  test('starts all programs', async () => {
    const imageNames = plan.components.flatMap(({ images }) => images.map(stripDigest))
    await host.script(fetchScript({ mirror: mirror.address, digests: new Map() }, imageNames.map(imageFetch)))
    const containerd = plan.components
      .flatMap(({ artifacts }) => artifacts)
      .find(({ name }) => name === 'containerd')
    // socat replaces the API server proxy.
    await host.script(`
systemd-run --quiet --unit=proxy socat TCP-LISTEN:6444,fork,reuseaddr,bind=127.0.0.1 TCP:127.0.0.1:6443
systemctl start containerd
PATH=$PATH:${containerd?.directory}
${importImages}
systemctl start --no-block ${listUpstreamServices(plan).join(' ')}
`)
    await grantNodeUsers(host, admin)
    await renderDerivedFiles(host, plan)
    for (const name of listUpstreamServices(plan)) {
      await pollUntil(`${name} to run`, async () => isActive(host, name), { timeoutMs: 60_000 })
    }
    expect((await host.exec(['systemctl', '--failed', '--quiet'])).stdout).toBe('')
  })

  test('lets etcd accept only clients with a certificate', async () => {
    const etcdClient = await issueClientCertificate(identity, 'etcd', 'test', [])
    expect(await handshake(host.address, 2379, etcdClient)).toEqual({ authorized: true, commonName: 'cp1' })
    await expect(handshake(host.address, 2379, { ca: etcdClient.ca })).rejects.toThrow(
      /hung up|certificate required/,
    )
  })

  test('lets the API server verify clients, and allows anonymous access only to its health endpoints', async () => {
    expect(await handshake(host.address, 6443, admin)).toEqual({
      authorized: true,
      commonName: 'kube-apiserver',
    })
    const anonymous = async (path: string): Promise<string> =>
      (
        await host.script(
          `curl -s -o /dev/null -w '%{http_code}' --cacert /etc/hyperkube/kubelet/ca.crt https://${host.address}:6443${path}`,
        )
      ).stdout
    await pollUntil('the API to be ready', async () => (await anonymous('/readyz')) === '200', {
      timeoutMs: 30_000,
    })
    expect(await anonymous('/livez')).toBe('200')
    expect(await anonymous('/version')).toBe('401')
    expect(await anonymous('/api')).toBe('401')
  })

  test('makes the node Ready with the planned version', async () => {
    const api = new KubeApi(`https://${host.address}:6443`, admin)
    try {
      await pollUntil('cp1 to be Ready', async () => (await readNode(api))?.ready === true, {
        timeoutMs: 90_000,
      })
      expect((await readNode(api))?.version).toBe(`v${kubernetes}`)
    } finally {
      api.close()
    }
  })

  test('encrypts Secrets in etcd', async () => {
    const api = new KubeApi(`https://${host.address}:6443`, admin)
    try {
      await api.create('/api/v1/namespaces/default/secrets', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'sealed' },
        stringData: { word: 'correct-horse-battery-staple' },
      })
    } finally {
      api.close()
    }
    const directory = plan.components.find(({ name }) => name === 'etcd')?.artifacts[0]?.directory
    const { stdout } = await host.script(
      `cd /etc/hyperkube/etcd; ${directory}/etcdctl --cacert=ca.crt --cert=client.crt --key=client.key get /registry/secrets/default/sealed | tr -c '[:print:]\\n' '?'`,
    )
    expect(stdout).toContain('k8s:enc:secretbox:v1:key1:')
    expect(stdout).not.toContain('correct-horse')
  })

  test('runs each program as its own user, and protects its files from other users', async () => {
    const unprivilegedUser = 'nobody'
    for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
      const { stdout } = await host.script(
        `ps -o user:32= -p "$(systemctl show -p MainPID --value ${name})"; ! runuser -u ${unprivilegedUser} -- ls /etc/hyperkube/${name} 2>/dev/null`,
      )
      expect(stdout.trim()).toBe(name)
    }
    const { stdout } = await host.script(
      'find /etc/hyperkube /var/lib/etcd -type f -name "*.key" -perm /077; true',
    )
    expect(stdout).toBe('')
  })

  test('writes requests to the audit log without secrets', async () => {
    const { stdout } = await host.exec(['cat', '/var/log/hyperkube/kube-apiserver/audit.log'])
    expect(stdout).toContain('"name":"sealed"')
    expect(stdout).not.toContain('correct-horse')
  })

  test(`is for the architecture ${machineArch()}`, () => {
    expect(plan.arch).toBe(machineArch())
  })
})

interface HandshakeResult {
  readonly authorized: boolean
  readonly commonName: string
}

/**
 * Performs a TLS handshake that both sides verify. A rejected client may learn of the rejection only when it
 * reads the first byte.
 */
async function handshake(
  host: string,
  port: number,
  { ca, certificate, key }: Partial<Credentials>,
): Promise<HandshakeResult> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ca: ca, cert: certificate, key, timeout: 10_000 }, () => {
      socket.write('GET /health HTTP/1.1\r\nHost: test\r\n\r\n')
    })
    socket.once('data', () => {
      const { subject } = socket.getPeerCertificate()
      resolve({ authorized: socket.authorized, commonName: String(subject.CN) })
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server hung up')))
    socket.once('timeout', () => socket.destroy(new Error('no answer')))
  })
}

async function isActive(host: Host, name: string): Promise<boolean> {
  const { stdout } = await host.exec(['systemctl', 'is-active', name], { allowFailure: true })
  return stdout.trim() === 'active'
}

async function readNode(api: KubeApi): Promise<{ ready: boolean; version: string } | undefined> {
  const { items } = await api.get<{
    items: {
      status: { conditions: { type: string; status: string }[]; nodeInfo: { kubeletVersion: string } }
    }[]
  }>('/api/v1/nodes')
  const [only] = items
  return (
    only && {
      ready: only.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      version: only.status.nodeInfo.kubeletVersion,
    }
  )
}

/** Creates the RBAC rules that `up` creates for flannel and kube-proxy. */
async function grantNodeUsers(host: Host, admin: Credentials): Promise<void> {
  const api = new KubeApi(`https://${host.address}:6443`, admin)
  try {
    await pollUntil('the RBAC rules', async () => ensureNodeUserRbac(api).then(() => true), {
      timeoutMs: 60_000,
    })
  } finally {
    api.close()
  }
}
