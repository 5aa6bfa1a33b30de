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
  FLEET_SELECTOR: {
    summary: 'The value of `--select` is not a list of label conditions.',
    remedy:
      'Use `stage=canary`, `stage!=canary`, `stage` or `!stage`, joined by commas. `name` is the name of the cluster.',
  },
  FLEET_NOTHING_SELECTED: {
    summary: 'No cluster has the labels of `--select`.',
    remedy: '`hyperkube fleet status -o wide` lists all clusters with their labels.',
  },
  FLEET_STOPPED: {
    summary: 'A rollout stopped, because more clusters failed or became degraded than allowed.',
    meaning: 'No further cluster was changed. The failures of the clusters are listed above.',
    remedy:
      'Fix the clusters that failed, or their files. Then run the command with `--resume`. Clusters that are done are not changed again.',
  },
  FLEET_CLUSTER_DEGRADED: {
    summary: 'A cluster is less healthy after its change than before.',
    meaning: 'The health gate of the wave waited for three minutes, and then stopped the rollout.',
    remedy: 'Run `hyperkube doctor -f FILE` for the cluster. After the fix, continue with `--resume`.',
  },
  FLEET_CLUSTER_INCOMPLETE: {
    summary: 'A cluster was changed without its unreachable hosts.',
    meaning: 'The rest of the change is pending, so a rollout over many clusters counts it as failed.',
    remedy: 'Bring the hosts back, then continue with `--resume`.',
  },
  FLEET_CLUSTER_FAILED: {
    summary: 'The command failed for a cluster before it changed hosts.',
    remedy: 'Run `hyperkube plan -f FILE` for the cluster, which shows all problems.',
  },
  FLEET_CLUSTER_TIMEOUT: {
    summary: 'A cluster was not finished within `--cluster-timeout`.',
    meaning: 'Its work was aborted. Other clusters are not affected.',
    remedy:
      'Run `hyperkube status -f FILE`. Allow more time with `--cluster-timeout 4h`, then continue with `--resume`.',
  },
  FLEET_RUN_UNFINISHED: {
    summary: 'The last run of the same command has not changed all its clusters.',
    meaning: 'A new run would begin again with the first wave.',
    remedy: 'Continue the run with `--resume`, or begin again with `--restart`.',
  },
  FLEET_RUN_ACTIVE: {
    summary: 'Another process is running the same command for this fleet.',
    remedy: 'Wait for it. If the process no longer exists, delete the file from the message.',
    symptoms: ['two-at-once'],
  },
  FLEET_RUN_NOT_READ: {
    summary: 'The file with the last run of a fleet command is damaged or of a newer release.',
    remedy: 'Use the newer release, or delete the file from the message and begin a new run.',
  },
  FLEET_NO_RUN: {
    summary: 'There is no run that `--resume` can continue.',
    remedy: 'Run the command without `--resume`.',
  },
}
