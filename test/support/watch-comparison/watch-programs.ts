/** A Kubernetes client that is compared: its package, its version, and a program that watches with it. */
export interface WatchProgram {
  readonly package: string
  /**
   * JavaScript module. Its arguments are the path of a kubeconfig and a label selector. It prints its import
   * time, and then each change of ConfigMaps in the namespace `default` as one line of JSON.
   */
  readonly script: string
}

/** Prints the memory after a garbage collection for each line of the input. */
const common = `
import { createInterface } from 'node:readline'
const print = (line) => process.stdout.write(JSON.stringify(line) + '\\n')
const printChange = (type, { name, uid, resourceVersion }) =>
  print({ type, name, uid, version: Number(resourceVersion) })
createInterface({ input: process.stdin }).on('line', () => {
  global.gc()
  const { rss, heapUsed } = process.memoryUsage()
  const sockets = process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCPSocket')).length
  print({ type: 'memory', rss, heapUsed, sockets })
})
const began = performance.now()
`

export const hyperkubeProgram: WatchProgram = {
  package: 'hyperkube',
  script: `${common}
const { createUntypedKind, openKube, Watch } = await import('hyperkube/kube')
print({ type: 'imported', ms: performance.now() - began })
const { signal } = new AbortController()
const client = await openKube({ program: 'watch-comparison', signal, access: process.argv[2] })
const watch = new Watch(client, createUntypedKind('v1', 'ConfigMap'), {
  namespace: 'default',
  labels: process.argv[3],
  select: ({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }),
  timing: { backoff: { initial: 20, max: 500 } },
})
for await (const change of watch.changes(signal)) {
  if (change.type === 'deleted') printChange('deleted', change.before)
  else if (change.type !== 'listed') printChange(change.type, change.object)
}
`,
}

/**
 * The informer of @kubernetes/client-node as its documentation shows it. Only the delay of a restart is
 * shorter: 20 ms instead of 5 s.
 */
export const clientNodeProgram: WatchProgram = {
  package: '@kubernetes/client-node',
  script: `${common}
const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node')
print({ type: 'imported', ms: performance.now() - began })
const config = new KubeConfig()
config.loadFromFile(process.argv[2])
const api = config.makeApiClient(CoreV1Api)
const labelSelector = process.argv[3]
const list = () => api.listNamespacedConfigMap({ namespace: 'default', labelSelector })
const informer = makeInformer(config, '/api/v1/namespaces/default/configmaps', list, labelSelector)
const restart = () => setTimeout(() => informer.start().catch(restart), 20)
informer.on('add', ({ metadata }) => printChange('added', metadata))
informer.on('update', ({ metadata }) => printChange('modified', metadata))
informer.on('delete', ({ metadata }) => printChange('deleted', metadata))
informer.on('error', restart)
informer.start().catch(restart)
`,
}
