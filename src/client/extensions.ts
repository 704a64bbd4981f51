/** The extensions that this client supports. Their pages are in `spec/`. */
export const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
export const REMINDERS = 'urn:lull:a2a:reminders:1'
export const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
export const STREAMS = 'urn:lull:a2a:streams:1'
export const USAGE = 'urn:lull:a2a:usage:1'
export const PROGRESS = 'urn:lull:a2a:progress:1'
/** Only in 0.3, where some changes of reminders have no other frame. */
export const RFC_NOTIFICATIONS = 'urn:lull:a2a:rfc-notifications:1'
