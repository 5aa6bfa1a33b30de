import { isDeepStrictEqual } from 'node:util'
import {
  listAddonsWithSecrets,
  listDesiredAddons,
  listHostIndependentAddons,
} from '../../addons/desired-addons.ts'
import {
  chooseGeneration,
  type DesiredDocument,
  readSignedDocument,
  signDocument,
} from '../../fleet/desired-document.ts'
import type { ManagedClusterSpec } from '../../fleet/cluster-resource.ts'
import { buildSigningKey } from '../../identity/signing-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { buildAddonInput } from '../../lifecycle/addons/propose-addons.ts'
import { findManagedCluster, writeDesired } from '../../manager/fleet/management.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import type { ManagedChange, ManagedClusterInput } from './managed-changes.ts'

type DocumentContent = Pick<DesiredDocument, 'addons' | 'others'>

/** Prepares `fleet publish` for one cluster: signs its addons, unless the newest document already contains them. */
export async function preparePublish({
  context,
  options,
  cluster,
  management,
}: ManagedClusterInput): Promise<ManagedChange> {
  const { name } = cluster.metadata
  const inputs = await loadClusterInputs(context, options, cluster)
  const found = await findManagedCluster(management, name, inputs.identity.id)
  if (found === undefined)
    throw new HyperkubeError('FLEET_NOT_JOINED', `the management plane has no Cluster ${name}`, {
      hint: `hyperkube fleet join --select name=${name} --management KUBECONFIG`,
    })
  const addonInput = buildAddonInput(inputs, new Map())
  const { findings } = listDesiredAddons({ ...addonInput, metricsCertificate: undefined })
  const error = findings.find(({ severity }) => severity === 'error')
  if (error !== undefined)
    throw new HyperkubeError(error.code, error.message, error.hint === undefined ? {} : { hint: error.hint })
  const { privateKey, publicKey } = buildSigningKey(inputs.identity)
  const addons = listHostIndependentAddons(addonInput)
  const others = listAddonsWithSecrets(addonInput)
  const content = { addons, ...(others.length === 0 ? {} : { others }) }
  const { desired } = found.spec
  const published = readPublished(desired, { publicKey, cluster: inputs.identity.id })
  const { accepted } = found.status
  // After a restore of the management plane, its document may be older than the accepted one.
  const isNewest = accepted === undefined || accepted.generation <= (published?.generation ?? 0)
  if (published !== undefined && isNewest && hasContent(published, content))
    return { change: `generation ${published.generation}` }
  const document: DesiredDocument = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'DesiredDocument',
    cluster: inputs.identity.id,
    generation: chooseGeneration([published?.generation, accepted?.generation], context.now()),
    ...content,
  }
  const { generation } = document
  const signed = { generation, ...signDocument(document, privateKey) }
  return {
    change: `publish generation ${generation} with ${addons.length} addons`,
    execute: async () => writeDesired(management, name, signed),
  }
}

function hasContent({ addons, others }: DesiredDocument, content: DocumentContent): boolean {
  return isDeepStrictEqual(toJson({ addons, others }), toJson(content))
}

/** Reads the newest document; undefined if this operator did not sign it. */
function readPublished(
  desired: ManagedClusterSpec['desired'],
  trust: Parameters<typeof readSignedDocument>[1],
): DesiredDocument | undefined {
  if (desired === undefined) return undefined
  try {
    return readSignedDocument(desired, trust)
  } catch (error) {
    if (error instanceof HyperkubeError) return undefined
    throw error
  }
}

/** Returns the value as a document contains it, without undefined fields. */
function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
