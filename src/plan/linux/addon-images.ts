import { buildComponentPlan, type ComponentPlanner } from '../component.ts'
import { isNode, type LinuxPlanContext } from '../context.ts'

/**
 * Images of addons. They are pulled last: nothing waits for them before the node is ready, and addons then
 * start without a registry.
 */
export const planAddonImages: ComponentPlanner<LinuxPlanContext> = (context) => {
  const uniqueImages = [...new Set(context.images)].toSorted()
  if (!isNode(context) || uniqueImages.length === 0) return undefined
  return buildComponentPlan({ name: 'images', stage: 'network', needs: ['containerd'], images: uniqueImages })
}
