import type { ClusterWriter } from '../cluster-access.ts'

/** For tests: a cluster writer whose calls all succeed at once. */
export const fakeClusterWriter: ClusterWriter = {
  applyObjects: async () => undefined,
  syncNodeLabels: async () => undefined,
  smokeTestPods: {
    create: async () => undefined,
    list: async () => new Map(),
    remove: async () => undefined,
  },
  applyAddonNoWait: async () => undefined,
  applyAddon: async () => ({ removed: [], findings: [] }),
  removeAddon: async () => ({ removed: [], findings: [] }),
  joinEtcd: async () => [],
  promote: async () => undefined,
  removeEtcdMember: async () => undefined,
  drain: async () => undefined,
  uncordon: async () => undefined,
  removeNode: async () => undefined,
}
