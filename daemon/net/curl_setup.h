// Sets the options of one transfer on a libcurl handle.
#pragma once

#include <curl/curl.h>

#include <memory>

#include "daemon/net/curl_lane.h"

namespace outcomed {

struct CurlListCloser {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlList = std::unique_ptr<curl_slist, CurlListCloser>;

// Lists that libcurl reads during the transfer and does not copy.
struct TransferLists {
  CurlList headers;
  CurlList proxy_headers;
  CurlList connect_to;
};

// Everything but the callbacks. `attempt` and `lists` must outlive the transfer.
Status set_up_transfer(CURL* easy, const Attempt& attempt, TransferLists& lists);

// What libcurl's code and message mean to our callers. Nothing of a URL's path, of headers or of
// bodies gets into libcurl's messages; control bytes (of a hostile certificate) are blanked.
Error error_of_curl(CURLcode code, std::string_view curl_message);

}  // namespace outcomed
