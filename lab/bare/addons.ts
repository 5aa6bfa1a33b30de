import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, parseAllDocuments } from 'yaml'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { cacheDirectory } from '../cache.ts'
import { renderKubeconfig } from '../cluster/configs.ts'
import type { Access, SetupContext } from '../cluster/contender.ts'
import { KubeApi } from '../cluster/kube-api.ts'
import { buildComponents } from '../components/build.ts'
import { selectParts } from '../components/parts.ts'
import { createWorkspace, prepareWorkspace } from '../hyperkube/workspace.ts'
import { silentReport } from '../report.ts'
import { Pki } from './pki.ts'

/**
 * Returns the paths of the files with which an operator applies addons by hand: manifests, kubectl and a
 * kubeconfig.
 */
function buildAddonPaths(context: SetupContext): {
  readonly [name in 'manifests' | 'kubectl' | 'config']: string
} {
  const { directory } = createWorkspace(context, 'bare')
  const toPath = (name: string): string => join(directory, name)
  return { manifests: toPath('addons.yml'), kubectl: toPath('kubectl'), config: toPath('kubeconfig') }
}

/**
 * Writes the addon manifests that hyperkube would apply, and kubectl. This runs before the time measurement
 * starts.
 */
export async function writeAddons(context: SetupContext): Promise<void> {
  const workspace = createWorkspace(context, 'bare')
  await prepareWorkspace(context, workspace)
  const { manifests, kubectl } = buildAddonPaths(context)
  const { stdout } = await workspace.runHyperkube('addon', 'show')
  await writeFile(manifests, await addCertificate(stdout, context.directory), { mode: 0o600 })
  const [built] = await buildComponents(selectParts([`kubernetes@${context.versions.kubernetes}`]), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  await symlink(join(built?.directory ?? '', 'kubectl'), kubectl)
}

/**
 * Waits until the first API server is ready, then repeats `kubectl apply` until the server accepts all
 * manifests. Then labels the control planes.
 */
export async function applyAddons(context: SetupContext, access: Access, signal: AbortSignal): Promise<void> {
  const { manifests, kubectl, config } = buildAddonPaths(context)
  const server = `https://${context.clusterHosts.controlPlanes[0]?.address}:6443`
  await writeFile(config, renderKubeconfig(server, access.api.ca, access.api), { mode: 0o600 })
  const api = new KubeApi(server, access.api)
  const pollOptions = { timeoutMs: 300_000, signal }
  try {
    await pollUntil(
      'an API server to be ready',
      async () => (await api.text('/readyz')) === 'ok',
      pollOptions,
    )
  } finally {
    api.close()
  }
  const env = { HOME: createWorkspace(context, 'bare').directory, KUBECONFIG: config }
  await pollUntil(
    'kubectl to apply all addons',
    async (stopSignal) =>
      runProgram([kubectl, 'apply', '--server-side', '-f', manifests], { env, signal: stopSignal }),
    pollOptions,
  )
  // Some addons run on control planes only. A kubelet may not set this label on its own node.
  const names = context.clusterHosts.controlPlanes.map(({ name }) => name)
  const label = ['label', '--overwrite', 'nodes', ...names, 'node-role.kubernetes.io/control-plane=']
  await pollUntil(
    'kubectl to label the control planes',
    async (stopSignal) => runProgram([kubectl, ...label], { env, signal: stopSignal }),
    pollOptions,
  )
}

/** Fills in the certificate of metrics-server, because `addon show` prints Secrets without values. */
async function addCertificate(text: string, directory: string): Promise<string> {
  const server = ['metrics-server.kube-system.svc']
  const { ca, own: serving } = await Pki.withTemporary(directory, async (pki) => {
    const metricsCa = await pki.createCa('metrics-ca')
    return { ca: metricsCa, own: await pki.sign(metricsCa, { commonName: 'metrics-server', server }) }
  })
  const fill = (document: Document, path: readonly string[], pem: string): void =>
    document.setIn(path, Buffer.from(pem).toString('base64'))
  const documents = parseAllDocuments(text, { version: '1.1' })
  for (const document of documents) {
    if (document.get('kind') === 'Secret') {
      fill(document, ['data', 'tls.crt'], serving.certificate)
      fill(document, ['data', 'tls.key'], serving.key)
    }
    if (document.get('kind') === 'APIService') fill(document, ['spec', 'caBundle'], ca.certificate)
  }
  return documents.map(String).join('---\n')
}
