import type { Entries } from './entry.ts'

export const addon: Entries = {
  ADDON_NAME: {
    summary: 'An addon has a name that no object could have.',
    meaning: 'The name becomes a label of every object of the addon, and part of the name of its inventory.',
    remedy: 'Take lower-case letters, digits and dashes, at most 63 of them.',
  },
  ADDON_JOB: {
    summary: 'An addon has a Job among its manifests.',
    meaning:
      'Addons are kept as they are wished, whenever that is asked for. A Job is done once, and cannot be changed: there is nothing to keep.',
    remedy: 'Do it in an init container of the workload that needs it, or make it a CronJob.',
  },
  ADDON_OBJECT_TWICE: {
    summary: 'Two manifests are about the same object.',
    meaning: 'The two would change it to and fro, and the one that goes would take it away from the other.',
    remedy: 'Leave it in one of them.',
  },
  ADDON_TOO_LARGE: {
    summary: 'An addon has more objects than can be remembered.',
    meaning:
      'What an addon has put into the cluster is in one ConfigMap of kube-system, which holds some thousands of objects. Nothing was changed.',
    remedy: 'Make two addons of it.',
  },
  ADDON_INVENTORY_NOT_READ: {
    summary: 'What an addon has put into the cluster cannot be read.',
    meaning:
      'A ConfigMap hyperkube-addon-NAME in kube-system was changed by somebody else, or was written by a newer hyperkube. Nothing was changed, because what is no longer wished would be forgotten.',
    remedy:
      'For a newer one: use that hyperkube. Otherwise restore the ConfigMap from a copy, or delete it: all that is wished will be entered anew, but counts as found then, and stays when the addon goes.',
  },
  ADDON_CONFLICT: {
    summary: 'Somebody else has set a field that an addon wishes otherwise.',
    meaning:
      'Every field belongs to whoever has set it: a person with kubectl, an autoscaler, an operator. Objects that were put there before this one stay as they are.',
    remedy:
      'Leave the field out of the manifest, if the other shall decide on it; or take it over with `force: true` of the addon. `kubectl get KIND NAME -o yaml --show-managed-fields` shows who has which field.',
  },
  ADDON_NOT_READY: {
    summary: 'Some of an addon was applied, and did not become ready in time.',
    meaning:
      'The next wave of its objects was not begun, and nothing was removed. The message says what is not ready and, where that can be seen, why.',
    remedy:
      '`kubectl describe` of the object, and `kubectl get events -n NAMESPACE --sort-by=.lastTimestamp`. Then run the command again: it goes on where it ended.',
  },
  ADDON_NOT_GONE: {
    summary: 'An object that an addon no longer has was removed, and is still there.',
    meaning:
      'Its finalizers say who has to do something first; often that is a program which no longer runs. It is still in the inventory of the addon.',
    remedy:
      '`kubectl get KIND NAME -o jsonpath={.metadata.finalizers}` names them. Once it is gone, run the command again.',
  },
  ADDON_OBJECT_LEFT: {
    summary: 'An object is no longer part of an addon, and stays.',
    meaning:
      'It was there before the addon, or somebody has made it anew under the same name. hyperkube removes only what it has made.',
    remedy: 'If nobody needs it, delete it with the command of the hint.',
  },
  ADDON_NAMESPACE_IN_USE: {
    summary: 'A namespace is no longer part of an addon, and stays because of what is in it.',
    meaning: 'With the namespace, all that others have put into it would go.',
    remedy: 'Move it elsewhere or delete it; the next run removes the namespace.',
  },
  ADDON_DEFINITION_IN_USE: {
    summary:
      'A CustomResourceDefinition is no longer part of an addon, and stays because there are objects of its kind.',
    meaning: 'With the definition, all objects of its kind would go, whoever has made them.',
    remedy: 'Delete them, if nobody needs them; the next run removes the definition.',
  },
}
