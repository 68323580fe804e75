# find_package(fullpipe_c) gives the targets fullpipe_c::shared and fullpipe_c::static.
get_filename_component(_fullpipe_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
foreach(_fullpipe_kind shared static)
    string(TOUPPER ${_fullpipe_kind} _fullpipe_upper)
    if(NOT TARGET fullpipe_c::${_fullpipe_kind})
        add_library(fullpipe_c::${_fullpipe_kind} ${_fullpipe_upper} IMPORTED)
        set_target_properties(fullpipe_c::${_fullpipe_kind} PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${_fullpipe_prefix}/include"
            IMPORTED_LOCATION "${_fullpipe_prefix}/lib/libfullpipe_c${CMAKE_${_fullpipe_upper}_LIBRARY_SUFFIX}")
    endif()
endforeach()
set_property(TARGET fullpipe_c::static PROPERTY INTERFACE_LINK_LIBRARIES pthread dl m)
