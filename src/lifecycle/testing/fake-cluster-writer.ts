import type { Interior } from '../cluster-access.ts'

/** For tests: a cluster in which everything is done at once. */
export const easyInterior: Interior = {
  putObjects: async () => undefined,
  settleNodes: async () => undefined,
  trialPods: { put: async () => undefined, look: async () => new Map(), remove: async () => undefined },
  layAddon: async () => undefined,
  putAddon: async () => ({ removed: [], findings: [] }),
  removeAddon: async () => ({ removed: [], findings: [] }),
  joinEtcd: async () => [],
  promote: async () => undefined,
  leaveEtcd: async () => undefined,
  drain: async () => undefined,
  uncordon: async () => undefined,
  removeNode: async () => undefined,
}
