import { buildCatalog, type Catalog } from './catalog.ts'
import type { CatalogDocument } from './catalog-document.ts'
import { etcdFlagTable } from './flags/etcd.ts'
import { flannelFlagTable } from './flags/flannel.ts'
import { kubeRouterFlagTable } from './flags/kube-router.ts'
import { kubernetesFlagTable } from './flags/kubernetes.ts'
import { removedFlags, windowsFlags } from './known-flags.ts'
import { shippedMinors } from './minor.ts'
import stamp from './shipped-catalog.json' with { type: 'json' }

const { serial, issued } = stamp

/** The catalog document that is part of this release of hyperkube. */
export const shippedDocument: CatalogDocument = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Catalog',
  serial,
  issued,
  minors: shippedMinors,
  flags: {
    kubernetes: kubernetesFlagTable,
    etcd: etcdFlagTable,
    flannel: flannelFlagTable,
    kubeRouter: kubeRouterFlagTable,
    windows: windowsFlags,
    removed: removedFlags,
  },
}

/** The catalog of this release of hyperkube. */
export const shippedCatalog: Catalog = buildCatalog(shippedDocument, { from: 'release', serial, issued })
