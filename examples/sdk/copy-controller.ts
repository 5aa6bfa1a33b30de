// A controller that copies one ConfigMap, for example the CA of a company, into every namespace. Run two or
// more of it: one is the leader, another one takes over when the leader ends.
//
//   KUBECONFIG=~/.kube/config node copy-controller.ts default/company-ca
//
// In a pod it uses the service account. That account needs: list and watch of namespaces and configmaps,
// patch of configmaps, and get, create and update of leases in kube-system.
import { z } from 'zod'
import {
  applyObject,
  createUntypedKind,
  elect,
  Informers,
  kubeObject,
  openKube,
  WatchSpec,
  WorkQueue,
  type ElectionResult,
  type ElectionTiming,
  type KubeClient,
} from 'hyperkube/kube'

const copyLabel = 'examples.hyperkube.dev/copy'
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  schema: kubeObject.extend({ data: z.record(z.string(), z.string()).default({}) }),
}

export interface CopyOptions {
  readonly client: KubeClient
  readonly namespace: string
  readonly name: string
  readonly log: (line: string) => void
  readonly timing?: Partial<ElectionTiming>
  readonly signal: AbortSignal
}

/** Competes for the lease and copies the ConfigMap while this process is the leader. */
export async function runCopyController(options: CopyOptions): Promise<ElectionResult> {
  const { client, log, timing, signal } = options
  return elect(
    {
      client,
      lease: { namespace: 'kube-system', name: 'copy-controller' },
      ...(timing === undefined ? {} : { timing }),
      onLeader: (holder) => log(`${holder} is the leader`),
      onError: (error) => log(String(error)),
      signal,
    },
    async (term) => copyWhileLeading(options, term.signal),
  )
}

async function copyWhileLeading(
  { client, namespace, name, log }: CopyOptions,
  signal: AbortSignal,
): Promise<void> {
  const informers = new Informers(client, { onError: (source, error) => log(`${source}: ${String(error)}`) })
  const namespaces = informers.getInformer(
    new WatchSpec({
      name: 'namespaces',
      kind: createUntypedKind('v1', 'Namespace'),
      select: ({ metadata }) => ({ isEnding: metadata.deletionTimestamp !== undefined }),
    }),
  )
  const select = ({ data }: { readonly data: Readonly<Record<string, string>> }) => ({ data })
  const sources = informers.getInformer(
    new WatchSpec({ name: 'source', kind: configMap, namespace, fields: `metadata.name=${name}`, select }),
  )
  const copies = informers.getInformer(
    new WatchSpec({ name: 'copies', kind: configMap, labels: `${copyLabel}=${name}`, select }),
  )
  const queue = new WorkQueue('copy')
  // Keys are namespaces. A change of the source concerns all of them, a change of a copy only its own.
  namespaces.listen(({ key }) => queue.add(key))
  sources.listen(() => [...namespaces.keys()].forEach((key) => queue.add(key)))
  copies.listen(({ key }) => queue.add(key.split('/')[0] ?? ''))
  const reconcile = async (target: string): Promise<undefined> => {
    const source = sources.get(`${namespace}/${name}`)
    const found = namespaces.get(target)
    if (source === undefined || found === undefined || found.isEnding || target === namespace) return
    const copy = copies.get(`${target}/${name}`)
    if (JSON.stringify(copy?.data) === JSON.stringify(source.data)) return
    const metadata = { namespace: target, name, labels: { [copyLabel]: name } }
    await applyObject(client, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: source.data })
    log(`copied ${name} to ${target}`)
  }
  const onFailure = (key: string, error: unknown): void => log(`${key}: ${String(error)}`)
  await Promise.all([informers.run(signal), queue.run({ handle: reconcile, workers: 4, onFailure }, signal)])
}

if (import.meta.main) {
  const [namespace = '', name = ''] = (process.argv[2] ?? 'default/company-ca').split('/')
  const stop = new AbortController()
  for (const event of ['SIGINT', 'SIGTERM'] as const) process.once(event, () => stop.abort())
  using client = await openKube({ program: 'copy-controller', signal: new AbortController().signal })
  const log = (line: string): unknown => process.stderr.write(`${line}\n`)
  const result = await runCopyController({ client, namespace, name, log, signal: stop.signal })
  // A process that is no longer the leader must end; its supervisor starts a new contender.
  process.exit(result === 'stopped' ? 0 : 1)
}
