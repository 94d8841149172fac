// breaks: list of services

package jobs

import _ "contextinfinity/backend/services"
