import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { ManagedClusterSpec } from '../cluster-resource.ts'
import { type DesiredDocument, type DocumentTrust, signDocument } from '../desired-document.ts'

const clusterId = '5a3b0f52-6f0f-4d0f-9a53-2f6f8f0f2b11'

/** The operator of a test cluster: its key and what the cluster trusts. */
export interface TestOperator {
  readonly privateKey: KeyObject
  readonly trust: DocumentTrust
  /** Signs a document with one ConfigMap that contains `word`, and permits it. */
  readonly offer: (generation: number, word: string, permitted?: number) => ManagedClusterSpec
}

export function createTestOperator(cluster = clusterId): TestOperator {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    trust: { publicKey, cluster },
    offer: (generation, word, permitted = generation) => ({
      desired: { generation, ...signDocument(buildTestDocument(cluster, generation, word), privateKey) },
      permitted: { generation: permitted, rollout: 'r' },
    }),
  }
}

/** Builds a document with one ConfigMap. */
export function buildTestDocument(cluster: string, generation: number, word: string): DesiredDocument {
  const metadata = { name: 'hello', namespace: 'default' }
  const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { word } }]
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'DesiredDocument',
    cluster,
    generation,
    addons: [{ name: 'hello', manifests }],
  }
}
