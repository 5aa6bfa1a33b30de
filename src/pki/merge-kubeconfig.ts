import { type Document, isMap, parse, parseDocument, YAMLSeq } from 'yaml'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

const namedEntry = z.looseObject({ name: z.string() })
const kubeconfigSchema = z.looseObject({
  clusters: z
    .array(namedEntry.extend({ cluster: z.looseObject({ server: z.string() }) }))
    .nullish()
    .transform((entries) => entries ?? []),
  users: z
    .array(namedEntry)
    .nullish()
    .transform((entries) => entries ?? []),
  contexts: z
    .array(namedEntry)
    .nullish()
    .transform((entries) => entries ?? []),
  'current-context': z.string().nullish(),
})
type Kubeconfig = z.infer<typeof kubeconfigSchema>

const sections = ['clusters', 'users', 'contexts'] as const

export interface KubeconfigMerge {
  readonly text: string
  /** Contexts that did not exist before. */
  readonly added: readonly string[]
  /** Contexts that existed before and now have the new credentials. */
  readonly updated: readonly string[]
  readonly currentContext: string
}

/**
 * Merges the kubeconfig of a cluster into an existing one. All other entries, comments and the current
 * context stay. Throws if an entry of the same name belongs to another cluster.
 */
export function mergeKubeconfig(existing: string, added: string): KubeconfigMerge {
  const document = parseDocument(existing)
  const before = readKubeconfig(document)
  const addition = kubeconfigSchema.parse(parse(added))
  checkSameCluster(before, addition)
  const current = before['current-context'] || (addition['current-context'] ?? '')
  if (isMap(document.contents)) {
    for (const section of sections) {
      for (const entry of addition[section]) replaceEntry(document, section, entry)
    }
    document.set('current-context', current)
  }
  const known = new Set(before.contexts.map(({ name }) => name))
  const names = addition.contexts.map(({ name }) => name)
  return {
    // An empty file has no map to merge into, so the result is the added kubeconfig.
    text: isMap(document.contents) ? document.toString({ lineWidth: 0 }) : added,
    added: names.filter((name) => !known.has(name)),
    updated: names.filter((name) => known.has(name)),
    currentContext: current,
  }
}

function readKubeconfig(document: Document): Kubeconfig {
  const parsed = kubeconfigSchema.safeParse(document.toJS() ?? {})
  if (document.errors.length === 0 && parsed.success) return parsed.data
  throw new HyperkubeError('KUBECONFIG_INVALID', 'the existing file is not a valid kubeconfig', {
    hint: 'find the problem: kubectl config view --kubeconfig FILE; or write a new file: (umask 077; hyperkube kubeconfig > FILE)',
    cause: document.errors[0] ?? parsed.error,
  })
}

/** Throws if an existing cluster entry has one of the new names, but another server and another CA. */
function checkSameCluster(before: Kubeconfig, addition: Kubeconfig): void {
  const servers = new Set(addition.clusters.map(({ cluster }) => cluster.server))
  const caKey = 'certificate-authority-data'
  for (const { name, cluster } of addition.clusters) {
    const old = before.clusters.find((entry) => entry.name === name)?.cluster
    if (old === undefined || servers.has(old.server) || old[caKey] === cluster[caKey]) continue
    throw new HyperkubeError(
      'KUBECONFIG_CONFLICT',
      `the existing kubeconfig has a cluster ${name} at ${old.server}, which is another cluster`,
      { hint: `keep both: (umask 077; hyperkube kubeconfig > ${name}.kubeconfig)` },
    )
  }
}

function replaceEntry(document: Document, section: string, entry: { readonly name: string }): void {
  const existing = document.get(section)
  const list = existing instanceof YAMLSeq ? existing : new YAMLSeq()
  if (list !== existing) document.set(section, list)
  const index = list.items.findIndex((item) => isMap(item) && item.get('name') === entry.name)
  const node = document.createNode(entry)
  if (index === -1) list.items.push(node)
  else list.items[index] = node
}
