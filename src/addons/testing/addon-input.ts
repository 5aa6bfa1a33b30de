import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import type { AddonInput } from '../built-in/addon-definition.ts'

const baseCluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 192.168.1.11, roles: [control-plane] }
    - { name: w1, address: 192.168.1.21, roles: [worker] }
`

/** Parses a cluster with two hosts. `more` is appended to its spec. */
export function parseAddonCluster(more = ''): Cluster {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text: baseCluster + more })
  if (cluster === undefined) throw new Error(JSON.stringify(findings))
  return cluster
}

export function readAddonTestdata(file: string): string {
  return readFileSync(join(import.meta.dirname, '../testdata', file), 'utf8')
}

export function buildAddonInputFixture(cluster: Cluster, more: Partial<AddonInput> = {}): AddonInput {
  return {
    cluster,
    images: findKubernetesRelease(shippedCatalog, '1.37.1').images,
    sources: new Map(),
    charts: new Map(),
    metricsCertificate: { ca: 'ca', certificate: 'certificate', privateKey: 'private key' },
    resolvers: [['192.0.2.53'], ['192.0.2.53']],
    ...more,
  }
}
