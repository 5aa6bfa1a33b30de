import type { ErrorCodeEntries } from './entry.ts'

export const fleetCodes: ErrorCodeEntries = {
  FLEET_NOT_READ: {
    summary: 'fleet.yml does not exist or cannot be read.',
    meaning: 'A cluster.yml names it in `metadata.fleet`, or a fleet command needs it.',
    remedy:
      'Change to its directory, or pass its path with `-f FILE`. In cluster.yml, correct `metadata.fleet`, which is relative to cluster.yml.',
  },
  FLEET_NOT_INHERITED: {
    summary: 'fleet.yml contains a setting that clusters cannot inherit.',
    meaning:
      '`kubernetes`, `workers`, `heldUpgrade` and `hosts` belong to one cluster. `hyperkube fleet upgrade` changes versions in waves.',
    remedy: 'Remove the setting from fleet.yml, and set it in each cluster.yml.',
  },
  FLEET_CLUSTER_NOT_FOUND: {
    summary: 'A path in `spec.clusters` of fleet.yml matches no file.',
    remedy: 'Correct the path, which is relative to fleet.yml. `hyperkube init -f FILE` creates a cluster.',
  },
  FLEET_CLUSTER_NOT_LISTED: {
    summary: 'cluster.yml names a fleet that does not list it.',
    meaning: 'The cluster would inherit values, but fleet commands would skip it.',
    remedy: 'Add the path of cluster.yml to `spec.clusters` of fleet.yml, or remove `metadata.fleet`.',
  },
  FLEET_NOT_NAMED: {
    summary: 'fleet.yml lists a cluster.yml that does not name this fleet.',
    meaning:
      'Without `metadata.fleet`, commands for this cluster alone would not use the values of the fleet, and give another result.',
    remedy: 'Set `metadata.fleet` in cluster.yml to the path of fleet.yml, relative to cluster.yml.',
  },
  FLEET_CLUSTER_DUPLICATE: {
    summary: 'Two clusters of a fleet have the same name.',
    meaning: 'The name selects the key file and the logs of a cluster.',
    remedy: 'Change the name of the newer cluster, before its first `hyperkube init`.',
  },
}
