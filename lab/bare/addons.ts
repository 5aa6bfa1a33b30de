import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, parseAllDocuments } from 'yaml'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'
import { cacheDirectory } from '../cache.ts'
import { kubeconfig } from '../cluster/configs.ts'
import type { Access, Ground } from '../cluster/contender.ts'
import { KubeApi } from '../cluster/kube-api.ts'
import { buildEngine } from '../components/build.ts'
import { selectParts } from '../components/parts.ts'
import { deskOf, layDesk } from '../hyperkube/workspace.ts'
import { silentReport } from '../report.ts'
import { Pki } from './pki.ts'

/** What a person has who applies addons by hand: the very manifests that hyperkube applies, and kubectl. */
function placesOf(ground: Ground): { readonly [name in 'manifests' | 'kubectl' | 'config']: string } {
  const { directory } = deskOf(ground, 'bare')
  const at = (name: string): string => join(directory, name)
  return { manifests: at('addons.yml'), kubectl: at('kubectl'), config: at('kubeconfig') }
}

/** Before the clock starts, as keys and digests are there for all. */
export async function writeAddons(ground: Ground): Promise<void> {
  const desk = deskOf(ground, 'bare')
  await layDesk(ground, desk)
  const { manifests, kubectl } = placesOf(ground)
  const { stdout } = await desk.type('addon', 'show')
  await writeFile(manifests, await withCertificate(stdout, ground.directory), { mode: 0o600 })
  const [built] = await buildEngine(selectParts([`kubernetes@${ground.versions.kubernetes}`]), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  await symlink(join(built?.directory ?? '', 'kubectl'), kubectl)
}

/** The moment the first API server is ready. What it does not take yet, it is asked again for. */
export async function applyAddons(ground: Ground, access: Access, signal: AbortSignal): Promise<void> {
  const { manifests, kubectl, config } = placesOf(ground)
  const server = `https://${ground.cast.controlPlanes[0]?.address}:6443`
  await writeFile(config, kubeconfig(server, access.api.authority, access.api), { mode: 0o600 })
  const api = new KubeApi(server, access.api)
  const patience = { within: 300_000, signal }
  try {
    await until('an API server to be ready', async () => (await api.text('/readyz')) === 'ok', patience)
  } finally {
    api.close()
  }
  const env = { HOME: deskOf(ground, 'bare').directory, KUBECONFIG: config }
  await until(
    'kubectl to apply all addons',
    async (either) => run([kubectl, 'apply', '--server-side', '-f', manifests], { env, signal: either }),
    patience,
  )
}

/** Of metrics-server, whose Secret is shown without its values. */
async function withCertificate(text: string, directory: string): Promise<string> {
  const server = ['metrics-server.kube-system.svc']
  const { authority, own } = await Pki.within(directory, async (pki) => {
    const made = await pki.authority('metrics-ca')
    return { authority: made, own: await pki.sign(made, { commonName: 'metrics-server', server }) }
  })
  const fill = (document: Document, path: readonly string[], pem: string): void =>
    document.setIn(path, Buffer.from(pem).toString('base64'))
  const documents = parseAllDocuments(text, { version: '1.1' })
  for (const document of documents) {
    if (document.get('kind') === 'Secret') {
      fill(document, ['data', 'tls.crt'], own.certificate)
      fill(document, ['data', 'tls.key'], own.key)
    }
    if (document.get('kind') === 'APIService') fill(document, ['spec', 'caBundle'], authority.certificate)
  }
  return documents.map(String).join('---\n')
}
