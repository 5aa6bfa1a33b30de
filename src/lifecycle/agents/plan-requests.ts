/**
 * Maximum number of requests with a plan that are sent at the same time. Each of them holds several copies of
 * its plan until the host has received it. Thousands at once would fill the memory of the operator's machine.
 */
export const maxPlanRequests = 64
