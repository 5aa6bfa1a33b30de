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
  FLEET_NOT_JOINED: {
    summary: 'The management plane has no Cluster object for a managed cluster.',
    meaning:
      'It was deleted, or the management plane was restored from a snapshot that is older than the cluster.',
    remedy: 'Run `hyperkube fleet join` on the machine with the key of the cluster.',
  },
  FLEET_NAME_TAKEN: {
    summary: 'Another cluster has joined the management plane with the same name.',
    meaning:
      'Both would write the status of one Cluster object, and one would get the documents of the other.',
    remedy:
      'Change the name of the newer cluster, before its first `hyperkube init`. If the other cluster does not exist any more, delete its Cluster object and its service account, as the message shows. Then run `hyperkube fleet join`.',
  },
  FLEET_ACCESS_NOT_VALID: {
    summary: 'The Secret with which a managed cluster reaches its management plane is not valid.',
    remedy:
      'Run `hyperkube fleet join` on the machine with the key of the cluster. It writes the Secret again.',
  },
  FLEET_MANAGEMENT_NOT_READY: {
    summary: 'The cluster of `--management` is not a management plane.',
    meaning: 'It has no CustomResourceDefinitions of a fleet.',
    remedy:
      'Add `fleet-rollout` and `fleet-status` to `spec.manager.controllers` of its cluster.yml, and run `hyperkube up` there.',
  },
  FLEET_STATE_NOT_READ: {
    summary: 'A managed cluster cannot read what it knows about its documents.',
    meaning: 'Without it the cluster could accept older documents, so it accepts none.',
    remedy:
      'Restore the ConfigMap `kube-system/hyperkube-fleet-member` from a backup. If you delete it, the cluster accepts any document that its operator has ever signed.',
  },
  FLEET_DOCUMENT_MISSING: {
    summary: 'A rollout contains a cluster without a document.',
    remedy: 'Run `hyperkube fleet publish` for the cluster, then raise `spec.attempt` of the Rollout.',
  },
  FLEET_DOCUMENT_REPLACED: {
    summary: 'A new document of a cluster was published after its rollout began.',
    meaning:
      'A rollout applies the documents that were the newest at its begin, because earlier waves tested those. The cluster applies neither document.',
    remedy:
      'Create a new Rollout to test the new documents in all waves. Or raise `spec.attempt`: the rollout continues with the new documents.',
  },
  FLEET_DOCUMENT_SIGNATURE: {
    summary: 'A managed cluster refused a document that its operator did not sign.',
    meaning: 'The document was changed, or signed with the key of another cluster. Nothing was applied.',
    remedy:
      'Find out who changed the Cluster object. Then run `hyperkube fleet publish` on the machine with the key of the cluster.',
  },
  FLEET_DOCUMENT_OTHER_CLUSTER: {
    summary: 'A managed cluster refused a document for another cluster.',
    remedy: 'Run `hyperkube fleet publish` on the machine with the key of the cluster.',
  },
  FLEET_DOCUMENT_STALE: {
    summary: 'A managed cluster refused a document that is older than the one it has accepted.',
    meaning:
      'The document was replayed, or the management plane was restored from an older snapshot. The cluster keeps its newer document.',
    remedy: 'Run `hyperkube fleet publish`, which signs a newer document. Then create a new Rollout.',
  },
  FLEET_DOCUMENT_CONFLICT: {
    summary: 'A managed cluster refused a document with the number of another one.',
    meaning: 'Two documents were signed with one number, or the number in the Cluster object was changed.',
    remedy: 'Run `hyperkube fleet publish`, which chooses a higher number.',
  },
  FLEET_DOCUMENT_TOO_LARGE: {
    summary: 'The addons of a cluster are too large for one document.',
    meaning: 'A managed cluster stores its document in a ConfigMap.',
    remedy: 'Apply large addons with `hyperkube up`, or make their manifests smaller.',
  },
  FLEET_GENERATION_AHEAD: {
    summary: 'The number of the last document of a cluster is far ahead of the clock of this machine.',
    meaning:
      'The clock is wrong, it was wrong when the last document was signed, or the management plane reports a false number. Nothing was signed.',
    remedy:
      'Correct the clock of this machine. If it is right, compare the number with `state` in the ConfigMap `kube-system/hyperkube-fleet-member` of the managed cluster. If the ConfigMap has a lower number, the management plane reports a false one. If it has the same number, delete the ConfigMap and the Cluster object, then run `hyperkube fleet join`. Until the next document, the cluster then accepts older documents.',
  },
  FLEET_CLUSTER_SILENT: {
    summary: 'A managed cluster did not apply its document in the time of the rollout.',
    meaning: 'It is unreachable, its controller `fleet-member` does not run, or the change takes longer.',
    remedy:
      'Run `hyperkube doctor -f FILE` for the cluster. Then raise `spec.attempt` of the Rollout, and `spec.timeoutSeconds` if the change needs more time.',
  },
}
