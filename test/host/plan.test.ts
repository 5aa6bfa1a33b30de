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
import { withoutDigest } from '../../src/contract/image-reference.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { until } from '../../src/kit/poll-until.ts'
import { clientOf } from '../support/client-certificate.ts'
import { deriveFiles, engine, engineServices, layOut } from '../support/install-plan.ts'
import { labMirror } from '../support/lab-mirror.ts'
import { freshLab, oneHost } from '../support/lab.ts'
import { plannedCluster } from '../support/planned-cluster.ts'

const versions = kubernetesVersions.map((version) => version.slice(1))

describe.each(versions)('what is planned for Kubernetes %s', (kubernetes) => {
  let lab: Lab
  let mirror: Mirror
  let host: Host
  let plan: NodePlan
  let identity: Identity
  let admin: Credentials

  beforeAll(async () => {
    lab = await freshLab('plan')
    mirror = await labMirror(lab)
    host = await oneHost(lab, 'cp1')
    const planned = await plannedCluster(kubernetes, mirror.address, [
      { host, roles: ['control-plane', 'worker'] },
    ])
    const [only] = planned.plans
    if (only === undefined) throw new Error('nothing was planned')
    plan = only
    identity = planned.identity
    admin = await clientOf(identity, 'kubernetes', 'test', ['system:masters'])
    await layOut(host, plan, identity)
  })
  afterAll(async () => {
    try {
      await mirror.close()
    } finally {
      await lab.down()
    }
  })

  test('is taken by systemd, every unit without a word', async () => {
    const units = engineServices(plan).map((name) => `/etc/systemd/system/${name}`)
    expect(await host.exec(['systemd-analyze', 'verify', ...units])).toMatchObject({ stdout: '', stderr: '' })
  })

  test('has certificates that OpenSSL takes, each under its own authority', async () => {
    for (const { certificates } of engine(plan)) {
      for (const { certificateFile, authority } of certificates) {
        const file = `/etc/hyperkube/agent/${authority}-ca.crt`
        const { stdout } = await host.script(`openssl verify -x509_strict -CAfile ${file} ${certificateFile}`)
        expect(stdout).toBe(`${certificateFile}: OK\n`)
      }
    }
  })

  test('is taken by every program: all of them run', async () => {
    const pause = plan.components.flatMap(({ images }) => images.map(withoutDigest))
    await host.script(fetchScript({ mirror: mirror.address, digests: new Map() }, pause.map(imageFetch)))
    const containerd = plan.components
      .flatMap(({ artifacts }) => artifacts)
      .find(({ name }) => name === 'containerd')
    // socat stands where the proxy will be.
    await host.script(`
systemd-run --quiet --unit=proxy socat TCP-LISTEN:6444,fork,reuseaddr,bind=127.0.0.1 TCP:127.0.0.1:6443
systemctl start containerd
PATH=$PATH:${containerd?.directory}
${importImages}
systemctl start --no-block ${engineServices(plan).join(' ')}
`)
    await grantFlannel(host, admin)
    await deriveFiles(host, plan)
    for (const name of engineServices(plan)) {
      await until(`${name} to run`, async () => isActive(host, name), { within: 60_000 })
    }
    expect((await host.exec(['systemctl', '--failed', '--quiet'])).stdout).toBe('')
  })

  test('etcd knows who is there: a handshake with a certificate, none without', async () => {
    const own = await clientOf(identity, 'etcd', 'test', [])
    expect(await handshake(host.address, 2379, own)).toEqual({ authorized: true, commonName: 'cp1' })
    await expect(handshake(host.address, 2379, { authority: own.authority })).rejects.toThrow(
      /hung up|certificate required/,
    )
  })

  test('the API server knows who is there, and is anonymous to nobody but for its health', async () => {
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
    await until('the API to be ready', async () => (await anonymous('/readyz')) === '200', { within: 30_000 })
    expect(await anonymous('/livez')).toBe('200')
    expect(await anonymous('/version')).toBe('401')
    expect(await anonymous('/api')).toBe('401')
  })

  test('the node becomes Ready, with what was planned for it', async () => {
    const api = new KubeApi(`https://${host.address}:6443`, admin)
    try {
      await until('cp1 to be Ready', async () => (await node(api))?.ready === true, { within: 90_000 })
      expect((await node(api))?.version).toBe(`v${kubernetes}`)
    } finally {
      api.close()
    }
  })

  test('Secrets are sealed in etcd', async () => {
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

  test('programs are who they should be, and others cannot read what is theirs', async () => {
    for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
      const { stdout } = await host.script(
        `ps -o user:32= -p "$(systemctl show -p MainPID --value ${name})"; ! runuser -u nobody -- ls /etc/hyperkube/${name} 2>/dev/null`,
      )
      expect(stdout.trim()).toBe(name)
    }
    const { stdout } = await host.script(
      'find /etc/hyperkube /var/lib/etcd -type f -name "*.key" -perm /077; true',
    )
    expect(stdout).toBe('')
  })

  test('what was done is in the audit log', async () => {
    const { stdout } = await host.exec(['cat', '/var/log/hyperkube/kube-apiserver/audit.log'])
    expect(stdout).toContain('"name":"sealed"')
    expect(stdout).not.toContain('correct-horse')
  })

  test(`was fetched for ${machineArch()}, whose digests the lock pins`, () => {
    expect(plan.arch).toBe(machineArch())
  })
})

interface Shook {
  readonly authorized: boolean
  readonly commonName: string
}

/** A TLS handshake that both sides verify; the server may say no only with the first byte that it sends. */
async function handshake(
  host: string,
  port: number,
  { authority, certificate, key }: Partial<Credentials>,
): Promise<Shook> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ca: authority, cert: certificate, key, timeout: 10_000 }, () => {
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

async function node(api: KubeApi): Promise<{ ready: boolean; version: string } | undefined> {
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

/** What `up` will do for it. */
async function grantFlannel(host: Host, admin: Credentials): Promise<void> {
  const api = new KubeApi(`https://${host.address}:6443`, admin)
  const group = '/apis/rbac.authorization.k8s.io/v1'
  const name = 'flannel'
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const rules = [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  ]
  const role = { apiVersion, kind: 'ClusterRole', metadata: { name }, rules }
  const binding = {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'hyperkube:flannel' }],
  }
  const granted = async (path: string, object: object): Promise<boolean> =>
    api.ensure(`${group}/${path}`, object).then(() => true)
  try {
    await until('the role of flannel', async () => granted('clusterroles', role), { within: 60_000 })
    await until('its binding', async () => granted('clusterrolebindings', binding), { within: 60_000 })
  } finally {
    api.close()
  }
}
